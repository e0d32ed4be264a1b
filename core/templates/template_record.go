package templates

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Template is a template of the sending account, without its content.
type Template struct {
	ID           string    `json:"-"`
	Slug         string    `json:"slug" voice:"ours"`
	Name         string    `json:"name" voice:"untrusted"`
	Subject      string    `json:"subject" voice:"untrusted"`
	Channel      *string   `json:"channel" voice:"ours" jsonschema:"nullable"`
	Version      string    `json:"version" voice:"ours" jsonschema_description:"Changes with the content."`
	LastModified time.Time `json:"last_modified_at"`
	Source       string    `json:"source" jsonschema:"enum=git,enum=managed,enum=import" jsonschema_description:"import: the sync found it in the account."`

	Hash      string    `json:"-"`
	CreatedAt time.Time `json:"-"`
}

// found is the value of Source for all templates. It means that they were copied from the
// sending account.
const found = "import"

const versionLength = 7

// complete returns t with Version set to the first characters of t.Hash, and with Source
// set.
func (t Template) complete() Template {
	t.Version, t.Source = t.Hash[:min(versionLength, len(t.Hash))], found
	return t
}

// Detail is a template with its content. It also has the variables that the content uses,
// and the faults found in the content.
type Detail struct {
	Template
	HTML         string     `json:"html" voice:"untrusted"`
	Text         string     `json:"text" voice:"untrusted"`
	Variables    []Variable `json:"variables"`
	ContentHash  string     `json:"content_hash" voice:"ours"`
	Validation   string     `json:"validation_status" jsonschema:"enum=valid,enum=invalid"`
	Diagnostics  []string   `json:"diagnostics" voice:"ours" jsonschema_description:"What is wrong with it."`
	Topic        *string    `json:"topic" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Always null: templates of the account have no topic."`
	Tags         []string   `json:"tags" voice:"untrusted"`
	DeployedName string     `json:"deployed_name" voice:"untrusted" jsonschema_description:"The template at the provider."`
}

// Variable is a variable that a template uses, such as name in {{name}}.
type Variable struct {
	Name     string  `json:"name" voice:"untrusted"`
	Required bool    `json:"required"`
	Default  *string `json:"default" voice:"untrusted" jsonschema:"nullable"`
}

// HashOf returns a SHA-256 hash of the subject, the text and the HTML of a template, in
// hexadecimal.
func HashOf(t sending.Template) string {
	h := sha256.New()
	for _, part := range []string{t.Subject, t.Text, t.HTML} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

const maxVariables = 200

// scan returns the first maxVariables variables of a template in the order of their first
// use in subject, HTML and text, and the faults of these parts. A part with faults has no
// variables. A variable is required if a part prints it outside of all blocks.
func scan(t sending.Template) (variables []Variable, diagnostics []string) {
	variables = []Variable{}
	at := map[string]int{}
	for _, part := range sources(t) {
		parsed, err := handlebars.Parse(part.source, part.mode)
		if err != nil {
			diagnostics = append(diagnostics, diagnose(part.name, err)...)
			continue
		}
		for _, v := range parsed.Variables() {
			i, known := at[v.Name]
			switch {
			case known:
				variables[i].Required = variables[i].Required || v.Required
			case len(variables) < maxVariables:
				at[v.Name] = len(variables)
				variables = append(variables, Variable{Name: v.Name, Required: v.Required})
			}
		}
	}
	return variables, diagnostics
}

// diagnose returns the faults of one part of a template as sentences: "`html` line 3,
// column 7: the tag is empty; expected a name." is one.
func diagnose(part string, err error) []string {
	var faults handlebars.Faults
	if !errors.As(err, &faults) {
		return []string{"`" + part + "` " + err.Error() + "."}
	}
	var sentences []string
	for _, fault := range faults {
		text := "`" + part + "` " + fault.Error()
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
		sentences = append(sentences, text)
	}
	return sentences
}

// detail returns the template with its content and everything that is derived from the
// content.
func detail(t Template, content sending.Template) Detail {
	variables, diagnostics := scan(content)
	d := Detail{
		Template: t, HTML: content.HTML, Text: content.Text, Variables: variables, ContentHash: t.Hash,
		Validation: "valid", Diagnostics: append([]string{}, diagnostics...), Tags: []string{}, DeployedName: t.Name,
	}
	if len(diagnostics) > 0 {
		d.Validation = "invalid"
	}
	return d
}
