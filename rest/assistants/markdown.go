package assistants

import (
	"fmt"
	"strings"
)

// Markdown returns the steps of all assistants as sections of a guide, by kind.
func Markdown(list []Assistant) string {
	var b strings.Builder
	for _, kind := range Kinds {
		fmt.Fprintf(&b, "## %s\n\n", kind)
		for _, a := range list {
			if a.Kind == kind {
				a.write(&b)
			}
		}
	}
	return b.String()
}

// write writes the section of one assistant.
func (a Assistant) write(b *strings.Builder) {
	fmt.Fprintf(b, "### %s {#%s}\n\n", a.Name, a.ID)
	if a.Install != "" {
		fmt.Fprintf(b, "[Add Mailhelm to %s](%s)\n\n", a.Name, a.Install)
	}
	for i, step := range a.Steps {
		fmt.Fprintf(b, "%d. %s\n\n", i+1, step.Text)
		if step.Code == "" {
			continue
		}
		if step.File != "" {
			fmt.Fprintf(b, "   File `%s`:\n\n", step.File)
		}
		fmt.Fprintf(b, "   ```%s\n", step.Language)
		for line := range strings.Lines(step.Code) {
			b.WriteString("   " + line)
		}
		b.WriteString("\n   ```\n\n")
	}
}
