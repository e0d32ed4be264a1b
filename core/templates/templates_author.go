package templates

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/sending"
)

// AuthorTemplateIn has the content of a template to save.
type AuthorTemplateIn struct {
	Slug     string         `json:"slug" jsonschema:"minLength=1,maxLength=64,pattern=^[a-z0-9_-]+(/[a-z0-9_-]+)*$" jsonschema_description:"Lower-case letters, digits, - and _, in parts with / between. A new one creates a template."`
	HTML     string         `json:"html" jsonschema:"minLength=1,maxLength=500000" jsonschema_description:"HTML with Handlebars: {{name}}, {{#if}}, {{#unless}}, {{#each}}, {{#with}}. At most 500 KB."`
	Text     *string        `json:"text,omitempty" jsonschema:"maxLength=500000" jsonschema_description:"Plain text. Empty: derived from the HTML when sent. Absent: unchanged."`
	Subject  *string        `json:"subject,omitempty" jsonschema:"minLength=1,maxLength=998" jsonschema_description:"May use variables. Absent: unchanged, or the slug for a new template."`
	TestData map[string]any `json:"testdata,omitempty" jsonschema:"maxProperties=50" jsonschema_description:"Sets of sample values by name, such as {\"vip\": {\"first_name\": \"Ada\"}}. Replaces the stored ones. Absent: unchanged."`
	Base     string         `json:"base_content_hash,omitempty" jsonschema:"maxLength=128" jsonschema_description:"content_hash of the content that you changed. Required to change a template, absent to create one."`
	Message  string         `json:"message,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Why it changes."`

	// testData is TestData as JSON, "" if it is absent.
	testData string
}

// AuthoredTemplate is the result of saving a template.
type AuthoredTemplate struct {
	Status            string       `json:"status" jsonschema:"enum=saved,enum=pull_request_open"`
	PullRequestURL    *string      `json:"pull_request_url" voice:"ours" jsonschema:"nullable" jsonschema_description:"null: it is saved here, or the repository has branches only."`
	PullRequestBranch *string      `json:"pull_request_branch" voice:"ours" jsonschema:"nullable" jsonschema_description:"Branch that awaits review. null: it is saved here."`
	ContentHash       string       `json:"content_hash" voice:"ours" jsonschema_description:"The base_content_hash of the next change."`
	VersionNumber     int          `json:"version_number" jsonschema_description:"0: the template is only proposed."`
	Diagnostics       []Diagnostic `json:"diagnostics" jsonschema_description:"What could be better. None keeps it from being sent."`
	Summary           string       `json:"summary" voice:"ours" jsonschema_description:"What happened, in a sentence."`
}

// Diagnostic is something in a saved template that should be better.
type Diagnostic struct {
	Severity string `json:"severity" jsonschema:"enum=error,enum=warning,enum=notice"`
	Code     string `json:"code" voice:"ours"`
	Message  string `json:"message" voice:"untrusted"`
	Line     int    `json:"line" jsonschema_description:"In the HTML, from 1; 0: about the whole mail."`
	Column   int    `json:"column"`
}

// saved is the value of AuthoredTemplate.Status for a template that Mailhelm stored.
const saved = "saved"

// maxTemplates is the maximum number of managed templates of an organization.
const maxTemplates = 1000

func (t *Templates) templatesAuthor() core.Operation {
	return core.Declare(core.Op[AuthorTemplateIn, AuthoredTemplate]{
		Name:  "templates_author",
		Title: "Save a template",
		Purpose: "Creates a template or saves a new version of one. " +
			"Use it to write mail; to change a template, get its content hash from templates_list. " +
			"Returns the content hash and what could be better. It does not send.",
		Example:  `{"slug": "harvest-tasting", "subject": "New harvest, {{first_name}}", "html": "<p>Dear {{first_name}}, the new harvest is here.</p><p><a href=\"{{unsubscribe_url}}\">Unsubscribe</a></p>"}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.TemplatesManage},
		GitOwned: core.GitPullRequest,
		Fails:    []core.Code{core.CodeConflict, core.CodeStaleContentHash},
		Prepare:  t.prepareTemplate,
		Propose:  proposer{t}.propose,
		Do:       t.authorTemplate,
	})
}

// prepareTemplate checks the arguments that can be checked without the stored template.
func (t *Templates) prepareTemplate(_ context.Context, c *core.Call, in AuthorTemplateIn) (AuthorTemplateIn, error) {
	var faults []core.FieldError
	content := sending.Template{HTML: in.HTML}
	if in.Subject != nil {
		content.Subject = *in.Subject
	}
	if in.Text != nil {
		content.Text = *in.Text
	}
	for _, fault := range contentFaults(content) {
		faults = append(faults, fault.fieldError())
	}
	if fault := checkName(DeployedName(c.Principal.Org.Slug, in.Slug)); fault != "" {
		faults = append(faults, core.FieldError{Field: "slug", Reason: fault})
	}
	encoded, fault := encodeTestData(in.TestData)
	if fault != "" {
		faults = append(faults, core.FieldError{Field: testDataPart, Reason: fault})
	}
	if len(faults) > 0 {
		return in, core.InvalidFields(faults...)
	}
	in.testData = encoded
	return in, nil
}

// authorTemplate stores the template, or a new version of it.
func (t *Templates) authorTemplate(ctx context.Context, c *core.Call, in AuthorTemplateIn) (AuthoredTemplate, error) {
	org := c.Principal.Org.ID
	write := t.changeTemplate
	stored, err := t.Managed.ManagedBySlug(ctx, org, in.Slug)
	if core.IsNotFound(err) {
		write, err = t.createTemplate, nil
	}
	if err != nil {
		return AuthoredTemplate{}, err
	}
	before := stored.Newest.Number
	stored, summary, err := write(ctx, c, stored, in)
	if err == nil && stored.Newest.Number != before {
		err = enqueueDeployment(ctx, t.Queue, org)
	}
	if err != nil {
		return AuthoredTemplate{}, err
	}
	c.SetSubject(stored.ID)
	diagnostics, err := t.diagnostics(ctx, org, stored)
	return AuthoredTemplate{
		Status: saved, ContentHash: stored.Newest.Hash, VersionNumber: stored.Newest.Number, Diagnostics: diagnostics, Summary: summary,
	}, err
}

// createTemplate stores a new template. It returns the template and a sentence that says
// what happened.
func (t *Templates) createTemplate(ctx context.Context, c *core.Call, _ ManagedTemplate, in AuthorTemplateIn) (ManagedTemplate, string, error) {
	org := c.Principal.Org
	if err := t.refuseCreation(ctx, c, in); err != nil {
		return ManagedTemplate{}, "", err
	}
	created := ManagedTemplate{
		ID: core.NewID(), Slug: in.Slug, DeployedName: DeployedName(org.Slug, in.Slug), TestData: in.testData, CreatedAt: c.Now,
		Newest: in.applyTo(Version{Subject: in.Slug}, c),
	}
	if err := checkSize(created.Newest); err != nil {
		return ManagedTemplate{}, "", err
	}
	return created, savedAs(created.Newest), t.Managed.InsertManaged(ctx, org.ID, created)
}

// refuseCreation returns the reason why no template can be created with the slug of the
// call, or nil.
func (t *Templates) refuseCreation(ctx context.Context, c *core.Call, in AuthorTemplateIn) error {
	if err := t.refuseTaken(ctx, c.Principal.Org.ID, in.Slug); err != nil {
		return err
	}
	if in.Base != "" {
		return core.StaleContentHash(c, "There is no template with the slug "+core.Quote(in.Slug)+", so no content has the hash "+core.Quote(in.Base)+".",
			"Correct `slug`, or leave `base_content_hash` out to create the template.", in.Base, "")
	}
	return t.refuseMore(ctx, c.Principal.Org.ID)
}

// refuseTaken refuses a slug that a template of the sending account has.
func (c Config) refuseTaken(ctx context.Context, orgID, slug string) error {
	_, _, err := c.Store.Template(ctx, orgID, slug)
	if err == nil {
		return core.Conflict("The sending account has a template of its own with the slug "+core.Quote(slug)+", and Mailhelm does not replace it.", "Choose another slug.")
	}
	if !core.IsNotFound(err) {
		return err
	}
	return nil
}

// refuseMore refuses one more template of an organization that has the maximum.
func (c Config) refuseMore(ctx context.Context, orgID string) error {
	names, err := c.Managed.ManagedNames(ctx, orgID)
	if err == nil && len(names) >= maxTemplates {
		return core.Invalid("slug", fmt.Sprintf("would be template %d, but an organization may have at most %d", len(names)+1, maxTemplates))
	}
	return err
}

// changeTemplate stores a new version of the template, unless its newest version has the
// content already. It returns the template and a sentence that says what happened.
func (t *Templates) changeTemplate(ctx context.Context, c *core.Call, stored ManagedTemplate, in AuthorTemplateIn) (ManagedTemplate, string, error) {
	org, before := c.Principal.Org.ID, stored.Newest
	next := in.applyTo(before, c)
	sameContent, sameData := next.Hash == before.Hash, in.testData == "" || in.testData == stored.TestData
	switch {
	case sameContent && sameData:
		return stored, fmt.Sprintf("Nothing changed: version %d has this content.", before.Number), nil
	case in.Base != before.Hash:
		return stored, "", staleBase(c, in, before)
	case !sameData:
		stored.TestData = in.testData
	}
	if sameContent {
		return stored, fmt.Sprintf("Replaced the test data. The content is still version %d.", before.Number), t.Managed.SetTestData(ctx, org, stored.ID, stored.TestData)
	}
	if err := checkSize(next); err != nil {
		return stored, "", err
	}
	stored.Newest = next
	return stored, savedAs(next), t.Managed.AddVersion(ctx, org, before.Hash, stored)
}

// savedAs says that a version was stored.
func savedAs(v Version) string {
	return fmt.Sprintf("Saved as version %d. The sending account gets it in the background. No mail was sent.", v.Number)
}

// checkSize refuses a version that is larger than a sending account takes.
func checkSize(v Version) error {
	if size := len(v.Subject) + len(v.HTML) + len(v.Text); size > handlebars.MaxSource {
		return core.Invalid(htmlPart, fmt.Sprintf("has %d bytes with the subject and the text; at most %d are allowed together", size, handlebars.MaxSource))
	}
	return nil
}

// staleBase refuses a change of content that is not the stored content.
func staleBase(c *core.Call, in AuthorTemplateIn, stored Version) error {
	what := "`base_content_hash` is " + core.Quote(in.Base)
	if in.Base == "" {
		what = "`base_content_hash` is absent"
	}
	return core.StaleContentHash(c,
		fmt.Sprintf("The template %s has version %d with the content hash %s, and %s.", core.Quote(in.Slug), stored.Number, core.Quote(stored.Hash), what),
		"Read the template again, apply your change to its present content, and send that content's hash as `base_content_hash`.", in.Base, stored.Hash)
}

// applyTo returns the version after before, with the content of the call.
func (in AuthorTemplateIn) applyTo(before Version, c *core.Call) Version {
	next := Version{
		Number: before.Number + 1, Subject: before.Subject, HTML: in.HTML, Text: before.Text, Message: in.Message, SavedAt: c.Now,
		SavedBy: Author{Kind: string(c.Principal.Credential.Kind), ID: c.Principal.Credential.ID, UserID: c.Principal.UserID},
	}
	if in.Subject != nil {
		next.Subject = *in.Subject
	}
	if in.Text != nil {
		next.Text = *in.Text
	}
	next.Hash = HashOf(next.Content())
	return next
}

// isOneLine reports whether a subject has no line end.
func isOneLine(subject string) bool { return composition.OneLine(subject) == subject }

// diagnostics returns what the newest version of a template could do better. Variables are
// known if they are attributes, reserved names, or in the template's test data.
func (t *Templates) diagnostics(ctx context.Context, orgID string, stored ManagedTemplate) ([]Diagnostic, error) {
	known, err := t.knownNames(ctx, orgID, stored.TestData)
	if err != nil {
		return nil, err
	}
	return lint(stored.Newest.Content(), known), nil
}

// lint returns what a template could do better. known has the names that variables may
// have, nil if they are not to be checked.
func lint(content sending.Template, known []string) []Diagnostic {
	variables, _ := scan(content)
	var names []string
	for _, v := range variables {
		names = append(names, v.Name)
	}
	diagnostics := []Diagnostic{}
	for _, f := range mailhtml.Lint(mailhtml.Input{Subject: content.Subject, HTML: content.HTML, Text: content.Text, Known: known, Variables: names}) {
		message, _ := core.VisibleText(f.Message)
		diagnostics = append(diagnostics, Diagnostic{string(f.Severity), f.Code, message, f.Line, f.Column})
	}
	return diagnostics[:min(len(diagnostics), maxDiagnostics)]
}

// maxDiagnostics is the maximum number of diagnostics of a template.
const maxDiagnostics = 50
