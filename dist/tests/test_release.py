"""Tests the release with made-up packages and registries: python3 dist/tests/test_release.py"""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from release_tree import ROOT, TOKENS, VERSION, Tree  # noqa: E402

sys.path.insert(0, str(ROOT / "dist"))

from releasing import packages  # noqa: E402
from releasing.formula import formula  # noqa: E402

WORKFLOW = (ROOT / ".github/workflows/release.yml").read_text()


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.tree = Tree()
        self.addCleanup(self.tree.close)

    def expect(self, code, *texts, words=(), **environment):
        got, printed = self.tree.run(*words, VERSION, **environment)
        self.assertEqual(got, code, printed)
        for text in texts:
            self.assertIn(text, printed)
        return printed

    def fault(self, text, *steps):
        got, printed = self.tree.run("--dry-run", "--built", VERSION, *steps)
        self.assertEqual(got, 1, printed)
        self.assertIn(text, printed)
        self.assertNotIn("Nothing was uploaded", printed)


class DryRuns(ReleaseTest):
    def test_all_steps_run_and_nothing_is_uploaded(self):
        printed = self.expect(0, "Nothing was uploaded.", "made-up check", words=["--dry-run"], **TOKENS)
        steps = re.findall(r"^== step \d+ of \d+, (\w+)$", printed, re.MULTILINE)
        self.assertEqual(steps, steps_of_the_script())
        self.assertEqual(self.tree.uploads(), [])

    def test_a_dry_run_needs_no_token(self):
        self.expect(0, "would run: npm publish", words=["--dry-run"])

    def test_without_tokens_a_release_lists_them_and_runs_nothing(self):
        printed = self.expect(2, *TOKENS)
        self.assertNotIn("== step", printed)
        self.assertEqual(self.tree.log.read_text(), "")

    def test_the_identity_of_a_job_replaces_the_tokens_of_npm_and_pypi(self):
        identity = {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://x", "NODE_AUTH_TOKEN": ""}
        printed = self.expect(2, "CARGO_REGISTRY_TOKEN", **identity)
        self.assertNotIn("NODE_AUTH_TOKEN", printed)
        self.assertNotIn("TWINE_PASSWORD", printed)

    def test_an_existing_binary_is_never_released(self):
        self.expect(2, "for dry runs", words=["--built"], **TOKENS)


class FaultsOfTheTree(ReleaseTest):
    def test_a_dirty_tree(self):
        self.tree.write("new.txt", "")
        self.fault("the tree is not clean: new.txt", "check")

    def test_a_missing_tag(self):
        self.tree.git("tag", "--delete", "v0.1.0")
        self.fault("there is no tag v0.1.0", "check")

    def test_a_tag_of_another_commit(self):
        self.tree.commit("Later")
        self.fault("the tag v0.1.0 is at", "check")

    def test_a_version_that_is_not_that_of_the_manifests(self):
        self.tree.git("tag", "v0.2.0")
        got, printed = self.tree.run("--dry-run", "0.2.0", "check")
        self.assertEqual(got, 1, printed)
        for text in ("brickbat is 0.1.0, not 0.2.0", "asks for brickbat-rules ^0.1.0", "Cargo.lock has brickbat-rules 0.1.0", "no section `## [0.2.0]"):
            self.assertIn(text, printed)
        self.assertEqual(self.tree.run("--dry-run", "v0.1.0", "check")[0], 1)

    def after(self, name, old, new, text):
        self.tree.edit(name, old, new)
        self.tree.commit("Edit", "v0.1.0")
        self.fault(text, "check")

    def test_a_version_that_no_package_gets(self):
        self.after("harness/packages/npm/package.json", '"version": "0.0.0"', '"version": "0.1.0"', "dist/build replaces only 0.0.0")

    def test_a_kit_with_two_versions(self):
        self.after("harness/packages/kit/rust/package.toml", "1.0.0", "1.0.1", "brickbat-adapter has several versions")

    def test_a_missing_section_of_the_changelog(self):
        self.after("CHANGELOG.md", "## [0.1.0] - 2026-12-01", "## [0.0.9] - 2026-12-01", "CHANGELOG.md has no section")

    def test_a_section_without_a_date(self):
        self.after("CHANGELOG.md", " - 2026-12-01", "", "expected YYYY-MM-DD")

    def test_entries_that_were_left_under_unreleased(self):
        self.after("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- A change.\n", "still has entries under Unreleased")

    def test_a_kit_that_changed_without_a_new_version(self):
        self.tree.git("tag", "v0.0.9")
        self.tree.write("harness/packages/kit/javascript/index.js", "changed")
        self.tree.commit("Change the kit", "v0.1.0")
        self.fault("brickbat-adapter 1.0.0 has changed since v0.0.9", "check")
        for name in ("javascript/package.json", "rust/package.toml"):
            self.tree.edit(f"harness/packages/kit/{name}", "1.0.0", "1.0.1")
        self.tree.commit("New version", "v0.1.0")
        self.assertEqual(self.tree.run("--dry-run", VERSION, "check")[0], 0)


class FaultsOfPackages(ReleaseTest):
    def rewritten(self, name, change):
        path = self.tree.out / name
        path.write_bytes(change(path.read_bytes()))
        self.tree.sums()

    def test_a_wrong_checksum(self):
        (self.tree.out / "brickbat-0.1.0.cdx.json").write_text("{}")
        self.fault("brickbat-0.1.0.cdx.json has another checksum", "checksums")

    def test_every_upload_verifies_the_checksums(self):
        (self.tree.out / "brickbat-0.1.0.tgz").write_bytes(b"other")
        self.fault("another checksum", "npm")

    def test_a_file_without_a_checksum_and_an_unfinished_build(self):
        (self.tree.out / "brickbat-extra.txt").write_text("")
        self.fault("differ in brickbat-extra.txt", "checksums")
        (self.tree.out / "SHA256SUMS").write_text("")
        self.fault("the build did not finish", "checksums")

    def test_a_truncated_wheel(self):
        self.rewritten("brickbat-0.1.0-py3-none-any.whl", lambda data: data[: len(data) // 2])
        self.fault("brickbat-0.1.0-py3-none-any.whl is broken", "packages")

    def test_a_wheel_with_a_file_that_was_exchanged(self):
        files = {"brickbat/__init__.py": "import os", "brickbat-0.1.0.dist-info/METADATA": "Name: brickbat\nVersion: 0.1.0\n"}
        self.tree.wheel("brickbat-0.1.0-py3-none-any.whl", files, record={**files, "brickbat/__init__.py": ""})
        self.tree.sums()
        self.fault("is not the file in the record of the wheel", "packages")

    def test_a_truncated_npm_package(self):
        self.rewritten("brickbat-linux-x64-0.1.0.tgz", lambda data: data[:-9])
        self.fault("brickbat-linux-x64-0.1.0.tgz is broken", "packages")

    def test_packages_of_another_version(self):
        self.tree.packages("0.1.1")
        self.fault("is version 0.1.1; expected 0.1.0", "packages")
        self.fault("is of brickbat 0.1.1", "sbom")

    def test_a_bill_that_github_would_not_sign(self):
        self.rewritten("brickbat-0.1.0.cdx.json", lambda data: data.replace(b"serialNumber", b"number"))
        self.fault("is not a bill in CycloneDX: KeyError('serialNumber')", "sbom")

    def test_a_machine_that_was_not_built(self):
        (self.tree.out / "brickbat-linux-x64-0.1.0.tgz").unlink()
        self.tree.sums()
        self.assertIn("which was not built; a release needs it", self.tree.run("--dry-run", VERSION, "packages")[1])
        got, printed = self.tree.run(VERSION, "packages")
        self.assertEqual(got, 1, printed)


class Uploads(ReleaseTest):
    def test_a_release_that_broke_off_is_completed(self):
        self.expect(1, "npm: failed", "the registry is down", BREAK=r"npm publish .*/brickbat-0\.1\.0\.tgz", **TOKENS)
        first = self.tree.uploads()
        self.assertEqual([line.split()[:2] for line in first], [["cargo", "publish"], ["cargo", "publish"], ["npm", "publish"], ["npm", "publish"]])
        self.assertIn("linux-x64", first[2], "the package of a machine comes before the one that installs it")
        self.expect(0, "brickbat-rules 0.1.0 is already on crates.io", "@brickbat/linux-x64 0.1.0 is already on npm", **TOKENS)
        second = self.tree.uploads()[len(first) :]
        self.assertEqual(sum("npm publish" in line for line in second), 1)
        self.assertFalse(any("cargo" in line for line in second), second)
        done = self.expect(0, "v0.1.0 has all files", "is already there", "v0 is already at", "the tap has the formula", **TOKENS)
        third = self.tree.uploads()[len(first) + len(second) :]
        # Twine itself asks PyPI for each file.
        self.assertEqual([line.split()[0] for line in third], ["twine"], done)
        self.assertIn("--skip-existing", third[0])

    def test_a_release_stays_a_draft_until_it_has_all_files(self):
        self.expect(1, "github: failed", BREAK="gh release upload", **TOKENS)
        self.assertFalse(any("--draft=false" in line for line in self.tree.uploads()))
        self.expect(0, **TOKENS)
        self.assertEqual(sum("--draft=false" in line for line in self.tree.uploads()), 1)
        self.assertEqual(sum("gh release create" in line for line in self.tree.uploads()), 1)

    def test_a_published_file_is_never_exchanged(self):
        self.expect(0, **TOKENS)
        archive = self.tree.out / "brickbat-0.1.0-x86_64-unknown-linux.tar.gz"
        shutil.copy(self.tree.out / "brickbat-0.1.0-aarch64-unknown-linux.tar.gz", archive)
        with open(archive, "ab") as file:
            file.write(b"\0")
        self.tree.sums()
        got, printed = self.tree.run(VERSION, "github", **TOKENS)
        self.assertEqual(got, 1, printed)
        self.assertIn("the published release v0.1.0 has another", printed)

    def test_other_bytes_of_a_published_version_are_an_error(self):
        self.expect(0, **TOKENS)
        (self.tree.state / "npm_brickbat_0.1.0").write_text('"sha512-other"')
        self.expect(1, "npm has other bytes of brickbat 0.1.0", **TOKENS)

    def test_the_limit_of_crates_io_is_explained(self):
        says = "status 429 Too Many Requests: try again after 12:00"
        self.expect(1, "run this step again later", "try again after", BREAK="cargo publish .*--package", SAYS=says, **TOKENS)

    def test_a_fix_of_an_older_line_moves_no_name(self):
        self.tree.git("tag", "v0.2.0")
        printed = self.expect(0, "v0 stays at a newer release", "the tap stays", "--latest=false", **TOKENS)
        self.assertNotIn(":latest", printed)

    def test_an_upload_from_another_commit_is_refused(self):
        self.tree.commit("Later")
        got, printed = self.tree.run(VERSION, "npm", **TOKENS)
        self.assertEqual(got, 1, printed)
        self.assertEqual(self.tree.uploads(), [])


class Addresses(unittest.TestCase):
    def test_the_address_of_binstall_for_each_system(self):
        sheet = {"pkg-url": "{ repo }/v{ version }/x-{ target-arch }-{ target-vendor }-{ target-family }{ archive-suffix }", "pkg-fmt": "tgz"}
        sheet["overrides"] = {"x86_64-pc-windows-msvc": {"pkg-fmt": "zip"}}
        os.chdir(ROOT)
        for machine, name in {("aarch64", "apple", "darwin"): "x-aarch64-apple-darwin.tar.gz", ("x86_64", "pc", "windows"): "x-x86_64-pc-windows.zip"}.items():
            self.assertEqual(packages.binstall_address(sheet, "1.2.3", *machine).rpartition("/")[2], name)

    def test_a_wrong_address_is_found(self):
        tree = Tree()
        self.addCleanup(tree.close)
        tree.edit("Cargo.toml", "brickbat-{ version }", "bat-{ version }")
        tree.commit("Edit", "v0.1.0")
        got, printed = tree.run("--dry-run", "--built", VERSION, "packages")
        self.assertEqual(got, 1, printed)
        self.assertIn("cargo-binstall would download https://github.com/brickbat/brickbat/releases/download/v0.1.0/bat-0.1.0", printed)

    @unittest.skipUnless(shutil.which("ruby"), "needs Ruby")
    def test_the_formula_names_the_archive_of_each_machine(self):
        archives = {("x86_64", "linux"): ("a.tar.gz", "1"), ("aarch64", "linux"): ("b.tar.gz", "2"), ("aarch64", "darwin"): ("c.tar.gz", "3")}
        # Plays the parts of Homebrew that a formula uses, and prints the archive of each machine.
        stub = """
            class Formula
              class << self
                def test; end
                def method_missing(name, *values, **named, &block)
                  return class_eval(&block).tap { @in.pop } if block && (@in ||= []).push(name)
                  puts [*@in, name, *values].join(" ") if %i[url sha256 depends_on].include?(name)
                end
              end
            end
        """
        for found, depends in ((archives, False), ({key: value for key, value in archives.items() if key[1] == "linux"}, True)):
            text = formula("1.2.3", "https://x/", found)
            printed = subprocess.run(["ruby", "-W0", "-e", stub + text], capture_output=True, text=True, check=True).stdout.split("\n")
            self.assertIn("on_linux on_intel url https://x/a.tar.gz", printed)
            self.assertIn("on_linux on_arm sha256 2", printed)
            self.assertEqual("on_macos on_arm url https://x/c.tar.gz" in printed, not depends)
            self.assertEqual("depends_on linux" in printed, depends)


def steps_of_the_script():
    return subprocess.run([ROOT / "dist/release", "--steps"], capture_output=True, text=True, check=True).stdout.split()


class Workflow(unittest.TestCase):
    def test_it_runs_the_steps_of_the_script_in_their_order(self):
        self.assertEqual(re.findall(r'dist/release "\$VERSION" (\w+)$', WORKFLOW, re.MULTILINE), steps_of_the_script())

    def test_each_job_waits_for_the_one_before(self):
        jobs = re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", WORKFLOW.split("\njobs:\n")[1], re.MULTILINE)
        self.assertGreater(len(jobs), 3)
        for (before, _), (name, text) in zip(jobs, jobs[1:]):
            self.assertIn(f"    needs: {before}\n", text, name)

    def test_it_may_do_nothing_by_default_and_names_every_token(self):
        self.assertIn("\npermissions: {}\n", WORKFLOW)
        for token in TOKENS:
            if token != "TWINE_PASSWORD":
                self.assertIn(f"{token}:", WORKFLOW)

    def test_the_page_for_maintainers_lists_what_a_person_has_to_set(self):
        page = (ROOT / "docs/src/reference/release.md").read_text()
        secrets = set(re.findall(r"secrets\.(\w+)", WORKFLOW)) - {"GITHUB_TOKEN"}
        for name in {*TOKENS, *secrets, *steps_of_the_script()}:
            self.assertIn(f"`{name}`", page)


if __name__ == "__main__":
    unittest.main()
