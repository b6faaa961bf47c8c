//! Small agents as users write them, each with one bug that `wrap` finds, and without it.

use std::path::Path;

use crate::program::{Said, brickbat, folder_of};

const TOOL_CRASH: (&str, &str) = ("agent.py", include_str!("small_agents/tool_crash.py"));
const LOST_PROMPT: (&str, &str) = ("agent.mjs", include_str!("small_agents/lost_prompt.mjs"));
const LATE_RESULTS: (&str, &str) = ("agent.sh", include_str!("small_agents/late_results.sh"));
const PARTIAL_REPLY: (&str, &str) = ("agent.mjs", include_str!("small_agents/partial_reply.mjs"));

const OVER_ACP: (&str, &str) = ("agent.py", include_str!("small_agents/acp_agent.py"));

/// The same command with `FIXED` and without it, each in a folder of its own.
fn each(agent: (&str, &str), program: &str, args: &[&str], check: impl Fn(bool, &Said, &Path)) {
    for is_fixed in [false, true] {
        let folder = folder_of(&[agent]);
        let resume = format!("{program} {} {{turn}}", agent.0);
        let all =
            [&["wrap"], args, &["--resume", &resume, "--", program, agent.0, "Look at the three orders."]]
                .concat();
        let variables: &[(&str, &str)] = if is_fixed { &[("FIXED", "1")] } else { &[] };
        check(is_fixed, &brickbat(folder.path(), &all, variables), folder.path());
    }
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python 3")]
fn a_tool_that_crashes_between_a_reply_and_its_results_bricks_the_thread() {
    each(TOOL_CRASH, "python3", &[], |is_fixed, said, _| match is_fixed {
        false => {
            assert_eq!(said.code, Some(1), "{said:#?}");
            assert!(said.err.contains("refused anthropic-messages/tool-result-missing"), "{said:#?}");
        }
        true => {
            assert_eq!(said.code, Some(0), "{said:#?}");
            assert!(said.err.ends_with("verdict: every request was accepted\n"), "{said:#?}");
        }
    });
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_prompt_that_a_stopped_turn_loses_is_missing_in_the_resumed_thread() {
    let stop = ["--kill-at", "after reply + 60s"];
    each(LOST_PROMPT, "node", &stop, |is_fixed, said, _| match is_fixed {
        false => {
            assert_eq!(said.code, Some(1), "{said:#?}");
            let verdict = said.err.lines().last().unwrap_or_default();
            assert!(
                verdict.starts_with("verdict: the resumed thread has lost the user's message of run 1 and ")
                    && verdict.ends_with(" results (seen in run 2)"),
                "{said:#?}"
            );
        }
        true => {
            assert_eq!(said.code, Some(0), "{said:#?}");
            assert!(said.err.ends_with("verdict: every request was accepted\n"), "{said:#?}");
        }
    });
}

#[test]
#[cfg_attr(not(has_curl_and_jq), ignore = "needs curl and jq")]
fn results_that_are_stored_late_are_missing_after_a_kill() {
    let kill = ["--kill-at", "before headers of reply 2"];
    each(LATE_RESULTS, "sh", &kill, |is_fixed, said, _| match is_fixed {
        false => {
            assert_eq!(said.code, Some(1), "{said:#?}");
            assert!(said.err.contains("refused openai-chat/tool-message-missing"), "{said:#?}");
        }
        true => assert_eq!(said.code, Some(0), "{said:#?}"),
    });
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn a_reply_that_broke_off_and_is_stored_as_complete_is_noted() {
    let cut = ["--faults=end-early", "--only", "1", "--rounds", "0", "--seed", "1"];
    each(PARTIAL_REPLY, "node", &cut, |is_fixed, said, _| {
        let note = "note: reply 1 was cut off (end-early after text ";
        assert_eq!(said.err.contains(note), !is_fixed, "{said:#?}");
        assert_eq!(said.code, Some(0), "{said:#?}");
    });
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python 3")]
fn an_agent_that_speaks_acp_is_driven_by_its_command_alone() {
    for is_fixed in [false, true] {
        let folder = folder_of(&[OVER_ACP]);
        let mut args = vec!["acp", "control/plain-batch", "abort/mid-batch"];
        if is_fixed {
            args.extend(["--env", "FIXED=1"]);
        }
        args.extend(["--keep", "kept/system.yaml", "--", "python3", "agent.py"]);
        let said = brickbat(folder.path(), &args, &[]);
        let met = "brickbat: small-acp-agent 0.1.0: it speaks anthropic-messages, offers tools as {server}_{tool}, and \
                   it loads no sessions\nbrickbat: the manifest is kept/system.yaml\n";
        assert!(said.err.starts_with(met), "{said:#?}");
        match is_fixed {
            false => {
                assert_eq!(said.code, Some(1), "{said:#?}");
                let headline = "fail: 1 cause in 3 of 7 judged plans\n\npremise user: ";
                assert!(said.out.contains(headline), "{said:#?}");
                assert!(said.out.contains("\nbricked-by-provider: "), "{said:#?}");
            }
            true => {
                assert_eq!(said.code, Some(0), "{said:#?}");
                assert!(said.out.contains("7 plans: 7 pass"), "{said:#?}");
            }
        }
        let again = brickbat(folder.path(), &args, &[]);
        assert_eq!((again.code, again.err.as_str()), (Some(2), "error: kept/system.yaml already exists\n"));
    }
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python 3")]
fn an_agent_that_speaks_acp_is_run_in_parts_and_for_a_time() {
    let folder = folder_of(&[OVER_ACP]);
    let options =
        ["--shard", "2/2", "--timeout", "10m", "--dialect", "anthropic-messages", "--env", "FIXED=1"];
    let args = [&["acp", "abort/mid-batch"], &options[..], &["--", "python3", "agent.py"]].concat();
    let said = brickbat(folder.path(), &args, &[]);
    assert!(said.code == Some(0) && said.out.contains(", shard 2/2\n"), "{said:#?}");
    let wrong = brickbat(folder.path(), &["acp", "--shard", "3/2", "--", "python3", "agent.py"], &[]);
    assert!(wrong.code == Some(2) && wrong.err.contains("'--shard <I/N>'"), "{wrong:#?}");
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python 3")]
fn an_agent_that_is_not_pointed_to_the_provider_is_told_how() {
    let folder = folder_of(&[OVER_ACP]);
    let args = ["acp", "--env", "ANTHROPIC_BASE_URL=http://127.0.0.1:9", "--", "python3", "agent.py"];
    let said = brickbat(folder.path(), &args, &[]);
    assert_eq!(said.code, Some(3), "{said:#?}");
    let expected = "error: the agent cannot be driven: it sent no request to the provider; its turn failed: ";
    assert!(said.err.starts_with(expected), "{said:#?}");
    assert!(said.err.contains("hint: point it to the provider with --env"), "{said:#?}");
}
