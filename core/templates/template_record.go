package templates

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

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

// tag matches one tag of a template, such as {{name}} or {{#if vip}}. Its first group is
// the sign (# in {{#if vip}}, "" for a plain value). Its second group is the text after the
// sign.
var tag = regexp.MustCompile(`\{\{\{?\s*([#/^!>&~]?)\s*([^{}]*?)\s*\}?\}\}`)

var (
	path = regexp.MustCompile(`^[A-Za-z_@][A-Za-z0-9_.@\-]*$`)
	// blocks has the block helpers whose arguments are variables of the message. In any
	// other block, such as {{#items}}, the name itself is a variable.
	blocks = map[string]bool{"if": true, "unless": true, "each": true, "with": true}
)

const maxVariables = 200

// scan returns the first maxVariables variables of a template in the order of their first
// use, and the faults of its tags. A variable is required if it is used as a value outside
// of all blocks, otherwise it is optional. Names inside of {{#each}}, {{#with}} and
// {{#items}} refer to fields of the block's value. scan does not return them as variables.
func scan(t sending.Template) (variables []Variable, diagnostics []string) {
	variables = []Variable{}
	at := map[string]int{}
	for _, part := range []struct{ name, text string }{{"subject", t.Subject}, {"html", t.HTML}, {"text", t.Text}} {
		s := scanner{note: func(name string, required bool) {
			i, known := at[name]
			switch {
			case known:
				variables[i].Required = variables[i].Required || required
			case len(variables) < maxVariables:
				at[name] = len(variables)
				variables = append(variables, Variable{Name: name, Required: required})
			}
		}}
		for _, m := range tag.FindAllStringSubmatch(part.text, -1) {
			s.tag(m[1], m[2])
		}
		if problem := s.problem(); problem != "" {
			diagnostics = append(diagnostics, "`"+part.name+"` "+problem)
		}
	}
	return variables, diagnostics
}

// scanner tracks the open blocks of one part of a template: subject, HTML or text.
type scanner struct {
	note  func(name string, required bool)
	open  []string
	stray bool
}

func (s *scanner) tag(sign, inside string) {
	words := strings.Fields(inside)
	if len(words) == 0 || sign == "!" || sign == ">" {
		return
	}
	switch sign {
	case "#", "^":
		s.begin(words)
	case "/":
		if len(s.open) == 0 || s.open[len(s.open)-1] != words[0] {
			s.stray = true
			return
		}
		s.open = s.open[:len(s.open)-1]
	default:
		if words[0] != "else" && words[0] != "this" && len(words) == 1 {
			s.value(words[0], true)
		}
	}
}

func (s *scanner) begin(words []string) {
	asked := words[:1]
	if blocks[words[0]] {
		asked = words[1:]
	}
	for _, name := range asked {
		s.value(name, false)
	}
	s.open = append(s.open, words[0])
}

// value records that the template uses a variable. It records nothing inside of an open
// block other than {{#if}} and {{#unless}}, because the name there belongs to the block's
// value.
func (s *scanner) value(name string, required bool) {
	for _, block := range s.open {
		if block != "if" && block != "unless" {
			return
		}
	}
	if path.MatchString(name) && !strings.HasPrefix(name, "@") {
		s.note(name, required && len(s.open) == 0)
	}
}

func (s *scanner) problem() string {
	switch {
	case s.stray:
		return "closes a block that is not open."
	case len(s.open) > 0:
		return "leaves a block open."
	}
	return ""
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
