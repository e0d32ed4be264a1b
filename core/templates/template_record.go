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

// Template is a template without its content: a copy of one in the sending account, or one
// that Mailhelm manages.
type Template struct {
	ID           string    `json:"-"`
	Slug         string    `json:"slug" voice:"ours"`
	Name         string    `json:"name" voice:"untrusted"`
	Subject      string    `json:"subject" voice:"untrusted"`
	Channel      *string   `json:"channel" voice:"ours" jsonschema:"nullable"`
	Version      string    `json:"version" voice:"ours" jsonschema_description:"Changes with the content. git: the commit that the content comes from, 7 characters."`
	ContentHash  string    `json:"content_hash" voice:"ours"`
	DeployedName string    `json:"deployed_name" voice:"untrusted" jsonschema_description:"The template at the provider, as messages name it."`
	LastModified time.Time `json:"last_modified_at"`
	Source       string    `json:"source" jsonschema:"enum=git,enum=managed,enum=import" jsonschema_description:"import: the sync found it in the account; managed: written here; git: defined by the connected repository."`
	Validation   string    `json:"validation_status" jsonschema:"enum=valid,enum=invalid" jsonschema_description:"invalid: it has faults. A git template is then sent with its last valid content, if it has any."`

	CreatedAt time.Time `json:"-"`
	// Commit is the commit that the content of a template of the repository comes from.
	Commit string `json:"-"`
	// Faults says what is wrong: with the content of a copy, as it was read last, or with the
	// files of a template in the repository.
	Faults []string `json:"-"`
	// VersionNumber is the newest version of a managed template, 0 for a copy.
	VersionNumber int `json:"-"`
	// Topic is the topic of its messages, "" for none.
	Topic string `json:"-"`
	// TestData is a JSON object whose members are sets of sample values, "" for none.
	TestData string `json:"-"`
	// Tags has the names of its tags, sorted. Only the read of a single template loads them.
	Tags []string `json:"-"`
	// Deployed says how far a managed template has come to the account.
	Deployed Deployment `json:"-"`
}

// Deployment says which version of a managed template the sending account has.
type Deployment struct {
	// Version is the version in the account, 0 for none.
	Version int
	// At is the time of the last successful deployment, zero for none.
	At time.Time
	// Failure is the kind of failure of the last attempt, "" if it succeeded or if there was
	// none since the last save.
	Failure sending.FailureKind
}

const versionLength = 7

// The values of Template.Validation.
const (
	valid   = "valid"
	invalid = "invalid"
)

// complete returns t with the members that follow from others. The name of a managed
// template is its slug.
func (t Template) complete() Template {
	version := t.ContentHash
	if t.Source == Git {
		version = t.Commit
	}
	t.Version = version[:min(versionLength, len(version))]
	if t.Source != Import {
		t.Name = t.Slug
	}
	t.Validation = valid
	if len(t.Faults) > 0 {
		t.Validation = invalid
	}
	return t
}

// isSendable reports whether the template has content: not if its files in the repository were
// never valid.
func (t Template) isSendable() bool { return t.Source == Import || t.VersionNumber > 0 }

// Detail is a template with its content. It also has the variables that the content uses,
// and the faults found in the content.
type Detail struct {
	Template
	HTML        string     `json:"html" voice:"untrusted"`
	Text        string     `json:"text" voice:"untrusted"`
	Variables   []Variable `json:"variables"`
	Diagnostics []string   `json:"diagnostics" voice:"untrusted" jsonschema_description:"What is wrong with it. git: with the newest files in the repository, which are not used until they are valid."`
	Topic       *string    `json:"topic" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"The topic of its messages. null: none is set, as for every template of the account."`
	Tags        []string   `json:"tags" voice:"untrusted"`
	// VersionNumber and the members below it describe managed templates.
	VersionNumber   int            `json:"version_number" jsonschema_description:"Newest version of a managed template, from 1; 0 for others."`
	DeployedVersion *int           `json:"deployed_version" jsonschema:"nullable" jsonschema_description:"The version of a managed template that the sending account has. null: none, or it is not managed."`
	DeployFailure   *string        `json:"deploy_failure" voice:"ours" jsonschema:"nullable" jsonschema_description:"Why the sending account did not take the newest version at the last attempt. null: it took it, or there was no attempt."`
	TestData        map[string]any `json:"testdata" voice:"untrusted" jsonschema_description:"Sets of sample values by name."`
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

// FaultsOf returns what is wrong with the content of a template, as sentences.
func FaultsOf(t sending.Template) []string {
	_, faults := scan(t)
	return faults
}

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
func detail(t Template, content sending.Template) (Detail, error) {
	variables, faults := scan(content)
	if t.Source != Import {
		faults = append(faults, t.Faults...)
	}
	t.Faults = faults
	d := Detail{
		Template: t.complete(), HTML: content.HTML, Text: content.Text, Variables: variables,
		Diagnostics: append([]string{}, faults...), Tags: append([]string{}, t.Tags...),
		VersionNumber: t.VersionNumber, TestData: map[string]any{},
	}
	if t.Topic != "" {
		d.Topic = &t.Topic
	}
	if t.Deployed.Version > 0 {
		d.DeployedVersion = &t.Deployed.Version
	}
	if t.Deployed.Failure != "" {
		text := deployFailure(t.Deployed.Failure)
		d.DeployFailure = &text
	}
	all, err := profiles(t.TestData)
	for name, values := range all {
		d.TestData[name] = values
	}
	return d, err
}

// deployFailure says why a template was not deployed.
func deployFailure(kind sending.FailureKind) string {
	switch kind {
	case sending.NotConnected:
		return "The organization has no sending account. The template is deployed when one is connected."
	case sending.Unsupported:
		return "The sending account is a mail server, which stores no templates. Mailhelm renders each message itself."
	case NameTaken:
		return "The sending account has another template of the deployed name, and Mailhelm does not replace it. Delete it there; Mailhelm tries again."
	case sending.Invalid:
		return "The sending account refused the content. Save another version."
	case sending.Full:
		return "The sending account has as many templates as it may have. Delete some there; Mailhelm tries again."
	case sending.Throttled, sending.TimedOut:
		return "The sending account did not answer in time. Mailhelm tries again."
	}
	return "The sending account is unreachable or refused the call. Mailhelm tries again."
}
