package article

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	linkForm    = regexp.MustCompile(`\]\((/[^)\s]*|op:[a-z_]+)\)`)
	figureForm  = regexp.MustCompile(`!\[([^\]]*)\]\(figure:[a-z-]+\)`)
	headingForm = regexp.MustCompile(`(?m)^(#+ .*?) \{#[^}]*\}$`)
)

// Markdown returns the page as one Markdown document with title, summary, body and
// examples. link returns the address to write for the address of a link. A figure becomes
// its description.
func (a Article) Markdown(link func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", a.Title)
	if a.Summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", a.Summary)
	}
	if a.Minutes > 0 {
		fmt.Fprintf(&b, "Time: about %d minutes.\n\n", a.Minutes)
	}
	b.WriteString(strings.TrimSpace(a.Body) + "\n")
	for _, example := range a.Examples {
		fmt.Fprintf(&b, "\n## %s\n", example.Title)
		for _, code := range example.Texts {
			if code.Label != "" {
				fmt.Fprintf(&b, "\n%s:\n", code.Label)
			}
			fmt.Fprintf(&b, "\n```%s\n%s\n```\n", code.Language, code.Text)
		}
	}
	return Rewrite(b.String(), link)
}

// Rewrite returns Markdown with the addresses that link returns for the addresses of its
// links, with descriptions in place of figures, and without ids of headings. It does not
// change code blocks.
func Rewrite(source string, link func(string) string) string {
	parts := strings.Split(source, "```")
	for i := range parts {
		if i%2 == 1 {
			continue
		}
		text := figureForm.ReplaceAllString(parts[i], "Figure: $1")
		text = headingForm.ReplaceAllString(text, "$1")
		parts[i] = linkForm.ReplaceAllStringFunc(text, func(found string) string {
			return "](" + link(found[2:len(found)-1]) + ")"
		})
	}
	return strings.Join(parts, "```")
}
