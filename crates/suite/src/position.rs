//! Places in the text of a suite, for messages.

use anyhow::anyhow;
use toml::Spanned;

use super::{Suite, TemplateError, Test};

impl Suite {
    /// The line of the file, from 1, that contains a byte.
    pub(super) fn line_of(&self, byte: usize) -> usize {
        line_at(&self.text, byte)
    }

    /// The line of a test's key, such as `values.id`; if the key is not written there, the line of the test's title.
    pub(super) fn key_line(&self, test: &Test, key: &str) -> usize {
        let title = self.line_of(test.title.span().start);
        let own = key.rsplit('.').next().unwrap_or(key);
        let is_it = |line: &str| {
            let names = [key, own].into_iter().filter_map(|name| line.trim_start().strip_prefix(name));
            names.into_iter().any(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        let of_test = self.text.lines().enumerate().skip(title).take_while(|(_, line)| *line != "[[test]]");
        of_test.into_iter().find(|(_, line)| is_it(line)).map_or(title, |(place, _)| place + 1)
    }

    /// The line of the file that corresponds to a line of a template.
    pub(super) fn template_line(&self, template: &Spanned<String>, line: usize) -> usize {
        let start = template.span().start;
        // A multi-line string that begins with a line break has its first line on the next one.
        let opening = self.text.get(start..).unwrap_or_default();
        let breaks = ["\"\"\"\n", "\"\"\"\r\n", "'''\n", "'''\r\n"];
        let offset = usize::from(breaks.iter().any(|quote| opening.starts_with(quote)));
        self.line_of(start) + offset + line.saturating_sub(1)
    }

    /// The place of a template's line: the file, the line there, and the test.
    pub(super) fn template_place(&self, test: &Test, template: &Spanned<String>, line: usize) -> String {
        format!("{}:{}: test {}", self.path.display(), self.template_line(template, line), test.id)
    }

    /// A template's error with its place in the file.
    pub(super) fn at_template(
        &self,
        test: &Test,
        template: &Spanned<String>,
        error: &TemplateError,
    ) -> anyhow::Error {
        anyhow!("{}: {error}", self.template_place(test, template, error.line.unwrap_or(1)))
    }
}

/// The line of a text, from 1, that contains a byte.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}
