"""The formula for Homebrew: https://docs.brew.sh/Formula-Cookbook"""

# Homebrew's names of operating systems and machines.
SYSTEMS = {"linux": "on_linux", "darwin": "on_macos"}
MACHINES = {"x86_64": "on_intel", "aarch64": "on_arm"}


def formula(version, page, archives):
    """Writes the formula. `archives` has the name and the checksum for each machine and operating system."""
    blocks = []
    for system, on_system in SYSTEMS.items():
        parts = [block(on_machine, page, *archives[machine, system]) for machine, on_machine in MACHINES.items() if (machine, system) in archives]
        if parts:
            blocks.append(f"  {on_system} do\n" + "\n".join(parts) + "  end\n")
    only = "" if any(system == "darwin" for _, system in archives) else "  depends_on :linux\n\n"
    return f"""class Brickbat < Formula
  desc "Fuzzing and conformance harness that makes agent SDKs survive bad endings"
  homepage "https://github.com/brickbat/brickbat"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

{only}{chr(10).join(blocks)}
  def install
    bin.install "brickbat"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/brickbat --version")
    (testpath/"request.json").write '{{"model":"claude-sonnet-4-5","max_tokens":8,"messages":[]}}'
    assert_match "anthropic-messages/", shell_output("#{{bin}}/brickbat check request.json", 1)
  end
end
"""


def block(on_machine, page, name, checksum):
    return f'    {on_machine} do\n      url "{page}{name}"\n      sha256 "{checksum}"\n    end\n'
