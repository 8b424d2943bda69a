//! Templates, their bounds and their errors.

use super::*;

fn renderer(watch: &PlanningProgress) -> Renderer<'_> {
    let bounds = Bounds { instructions: 3_000_000, bytes: 1 << 20 };
    Renderer::new(&Parameters::default(), "sqlite", TableForm::default(), bounds, watch)
}

fn render(template: &str) -> Result<String, TemplateError> {
    renderer(&PlanningProgress::default()).render(template)
}

#[test]
fn data_come_from_one_stream() {
    let watch = PlanningProgress::default();
    let renderer = renderer(&watch);
    assert_eq!(renderer.render("{{ random(100000) }}").unwrap(), "13153");
    assert_eq!(renderer.render("{{ random(100000) }}").unwrap(), "75560");
}

#[test]
fn a_loop_that_writes_nothing_and_one_over_too_many_are_errors_at_their_line() {
    let watch = PlanningProgress::default();
    let bounds = Bounds::default();
    let renderer = Renderer::new(&Parameters::default(), "sqlite", TableForm::default(), bounds, &watch);
    let over = "x\n{% for i in range(10**12) %}\nx{% endfor %}";
    let nested =
        "{% for i in range(10**6) %}\n{% for j in range(10**6) %}\n{% set b = i %}\n{% endfor %}{% endfor %}";
    let listed = "{% for i in range(3 * 10**8)|list|sort %}x{% endfor %}";
    for template in [over, nested, listed] {
        let error = renderer.render(template).expect_err(template);
        assert!(error.message.contains("loop without end"), "{template}: {}", error.message);
        assert!(error.line.is_some_and(|line| line <= 3), "{template}: {:?}", error.line);
    }
    // As many numbers with a text for each are no such loop.
    let text = renderer.render("{% for i in range(5000000) %}x{% endfor %}").unwrap();
    assert_eq!(text.len(), 5_000_000);
}

#[test]
fn loops_are_longer_than_the_libraries_own() {
    let text = render("{% for i in range(0, 200000) %}x{% endfor %}").unwrap();
    assert_eq!(text.len(), 200_000);
    assert_eq!(render("{% for i in range(3) %}{{ i }}{% endfor %}").unwrap(), "012");
    assert_eq!(render("{{ range(2, 1000000000) | length }}").unwrap(), "999999998");
}

#[test]
fn a_loop_without_end_and_a_text_without_end_are_errors() {
    let complaint = |template: &str| render(template).unwrap_err();
    let endless = complaint("x\n{% for i in range(1000000000000) %}\n{% set b = i %}\n{% endfor %}");
    assert!(endless.message.contains("loop without end"), "{}", endless.message);
    assert!(endless.line.is_some_and(|line| (2..=4).contains(&line)), "{:?}", endless.line);
    let endless = complaint("{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}");
    assert!(endless.message.contains("recursion"), "{}", endless.message);
    let long = complaint("{% set x = 'ab' * 1000 %}{% for i in range(100000) %}{{ x }}{% endfor %}");
    assert!(long.message.contains("longer than 1 MiB"), "{}", long.message);
    for wide in ["{{ 'x\ny' | indent(99999999999) }}", "{{ '%099999999999d' | format(1) }}"] {
        assert!(complaint(wide).message.contains("filter"), "{wide}");
    }
}

#[test]
fn a_loop_ends_when_it_is_asked_to() {
    let watch = PlanningProgress::default();
    watch.stop();
    let renderer = renderer(&watch);
    assert_eq!(
        renderer.render("{% for i in range(1000000000000) %}{% set b = i %}{% endfor %}").unwrap(),
        ""
    );
    assert!(renderer.render("SELECT 1").unwrap_err().message.contains("asked to stop"));
}

#[test]
fn parameters_and_the_dialect_are_variables() {
    assert_eq!(render("{{ dialect }}").unwrap(), "sqlite");
}

#[test]
fn mistakes_name_their_line() {
    let error = render("SELECT 1;\n{{ wodrs(3) }};\n").unwrap_err();
    assert_eq!(error.line, Some(2));
    assert!(error.message.contains("wodrs"), "{}", error.message);
    assert!(render("{{ random(0) }}").unwrap_err().message.contains("no number below 0"));
    assert!(render("{{ nothing }}").is_err());
}
