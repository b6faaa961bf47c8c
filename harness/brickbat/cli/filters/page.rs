//! Filters and checks in a table, and every cause, as a self-contained page.

use std::fmt::Write;

use brickbat_filter_suite::RouteReport;
use brickbat_filter_suite::checks::CHECKS;
use brickbat_report::report::text::counted;

const STYLE: &str = "body{font:15px/1.5 sans-serif;margin:2rem;max-width:90rem}\
table{border-collapse:collapse}th,td{border:1px solid #ccc;padding:.2rem .5rem;text-align:right}\
th:first-child,td:first-child{text-align:left}.bad{background:#fdd}.good{background:#dfd}.none{color:#999}\
pre{white-space:pre-wrap;word-break:break-all;background:#f6f6f6;padding:.5rem}\
thead th{writing-mode:vertical-rl;text-align:left}";

/// The page's permissions in a browser: it may only display itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) fn page(judged: &[(String, Vec<RouteReport>)]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"><title>Filters</title>\
         <style>{STYLE}</style></head><body>\n<h1>Filters</h1>\n<p>For each check: how many histories failed it, out of how many.</p>\n"
    );
    html.push_str("<table><thead><tr><th>filter</th><th>judged</th>");
    for check in CHECKS {
        // Writing to a string cannot fail.
        let _ = write!(html, "<th title=\"{}\">{}</th>", escaped(check.summary), check.id);
    }
    html.push_str("</tr></thead><tbody>\n");
    for (filter, routes) in judged {
        for route in routes {
            row(&mut html, filter, route);
        }
    }
    html.push_str("</tbody></table>\n");
    for (filter, routes) in judged {
        for route in routes.iter().filter(|route| !route.causes.is_empty()) {
            causes(&mut html, filter, route);
        }
    }
    html.push_str("</body></html>\n");
    html
}

fn row(html: &mut String, filter: &str, route: &RouteReport) {
    let name = escaped(&format!("{filter} {}", route.route));
    let _ = write!(html, "<tr><td>{name}</td><td>{} of {}</td>", route.judged, route.inputs);
    for check in CHECKS {
        match route.checks.get(check.id) {
            None => html.push_str("<td class=\"none\">–</td>"),
            Some(counted) => {
                let class = if counted.failed > 0 { "bad" } else { "good" };
                let _ = write!(html, "<td class=\"{class}\">{}/{}</td>", counted.failed, counted.put);
            }
        }
    }
    html.push_str("</tr>\n");
}

fn causes(html: &mut String, filter: &str, route: &RouteReport) {
    let _ = writeln!(html, "<h2>{}</h2>", escaped(&format!("{filter} {}", route.route)));
    for cause in &route.causes {
        let inputs = usize::try_from(cause.inputs).unwrap_or(usize::MAX);
        let _ = writeln!(
            html,
            "<h3>{}: {}</h3>\n<p>{} ({})</p>\n<pre>{}</pre>\n<pre>{}</pre>",
            cause.check,
            escaped(&cause.cause),
            escaped(&cause.words),
            counted(inputs, "input"),
            escaped(&cause.minimal.to_string()),
            escaped(&cause.output.to_string())
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
