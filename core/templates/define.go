package templates

import (
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Definition is a template with all that its author decides, as bundles and repositories define it.
// TestData has the sets of sample values by their names, nil for none.
type Definition struct {
	Slug, Subject, HTML, Text string
	// Topic is the topic of its messages, "" for none.
	Topic    string
	TestData map[string]json.RawMessage
}

var definitionSchema = core.InputSchema[AuthorTemplateIn]()

// CheckSlug returns why no template can have the slug, as reasons that begin with a verb.
func CheckSlug(org core.Org, slug string) []string {
	var reasons []string
	for _, f := range core.FieldsOf(definitionSchema.CheckValue(AuthorTemplateIn{Slug: slug, HTML: "<p>"})) {
		reasons = append(reasons, f.Reason)
	}
	if reason := checkName(DeployedName(org.Slug, slug)); reason != "" {
		reasons = append(reasons, reason)
	}
	return reasons
}

// CheckDefinition returns why the content of a definition cannot be stored, and what could be better.
// attributes has the names of the attributes that contacts can have. Faults are those of
// templates_author; a fault of the whole definition has the part "". The slug is not checked; see
// [CheckSlug].
func CheckDefinition(d Definition, attributes []string) ([]Fault, []Diagnostic) {
	faults := contentFaults(d.content())
	in := AuthorTemplateIn{Slug: d.Slug, HTML: d.HTML, Text: &d.Text, Subject: &d.Subject}
	for _, f := range core.FieldsOf(definitionSchema.CheckValue(in)) {
		if f.Field != "slug" {
			faults = append(faults, Fault{Part: f.Field, Message: "`" + f.Field + "` " + f.Reason})
		}
	}
	for _, f := range core.FieldsOf(checkSize(Version{Subject: d.Subject, HTML: d.HTML, Text: d.Text})) {
		faults = append(faults, Fault{Message: "`" + f.Field + "` " + f.Reason})
	}
	known := append([]string{}, attributes...)
	data, fault := d.testData()
	if fault != "" {
		return append(faults, Fault{Part: testDataPart, Message: fault}), nil
	}
	all, err := profiles(data)
	if err != nil {
		return append(faults, Fault{Part: testDataPart, Message: "has a set that is no object"}), nil
	}
	for _, values := range all {
		for name := range values {
			known = append(known, name)
		}
	}
	if len(faults) > 0 {
		return faults, nil
	}
	return nil, lint(d.content(), known)
}

func (d Definition) content() sending.Template {
	return sending.Template{Subject: d.Subject, HTML: d.HTML, Text: d.Text}
}

// testData returns the sample values as they are stored, or what is wrong with them.
func (d Definition) testData() (encoded, fault string) {
	if d.TestData == nil {
		return "", ""
	}
	values := make(map[string]any, len(d.TestData))
	for name, raw := range d.TestData {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			values[name] = nil
			continue
		}
		members := make(map[string]any, len(object))
		for key, value := range object {
			members[key] = value
		}
		values[name] = members
	}
	return encodeTestData(values)
}

// Definitions stores templates as bundles and repositories define them.
type Definitions struct{ Config }

// Define creates the template with the slug, or stores a new version of it if its content differs. It
// returns the id of the template. The sending account gets the new version in the background. The
// transaction of ctx is that of the caller.
func (t Definitions) Define(ctx context.Context, org core.Org, d Definition, by Author) (string, error) {
	data, fault := d.testData()
	if fault != "" {
		return "", core.Invalid(testDataPart, fault)
	}
	stored, err := t.Managed.ManagedBySlug(ctx, org.ID, d.Slug)
	switch {
	case core.IsNotFound(err):
		stored, err = t.insert(ctx, org, d, data, by)
	case err == nil:
		err = t.replace(ctx, org.ID, stored, d, data, by)
	}
	if err != nil {
		return "", err
	}
	if err := t.Managed.SetTopic(ctx, org.ID, stored.ID, d.Topic); err != nil {
		return "", err
	}
	return stored.ID, enqueueDeployment(ctx, t.Queue, org.ID)
}

// KeepInvalid stores what is wrong with the files of a template in the repository, as sentences. The
// template keeps its content. If there is no template with the slug, KeepInvalid creates one without
// content, which can be sent when its files are valid. The transaction of ctx is that of the caller.
func (t Definitions) KeepInvalid(ctx context.Context, org core.Org, slug string, faults []string) error {
	stored, err := t.Managed.ManagedBySlug(ctx, org.ID, slug)
	switch {
	case core.IsNotFound(err):
		_, err = t.create(ctx, org, ManagedTemplate{Slug: slug, Faults: faults, Newest: Definition{Subject: slug}.version(0, Author{})})
	case err == nil:
		err = t.Managed.SetFaults(ctx, org.ID, stored.ID, faults)
	}
	return err
}

func (t Definitions) insert(ctx context.Context, org core.Org, d Definition, data string, by Author) (ManagedTemplate, error) {
	return t.create(ctx, org, ManagedTemplate{Slug: d.Slug, TestData: data, Newest: d.version(1, by)})
}

// create stores a new template.
func (t Definitions) create(ctx context.Context, org core.Org, created ManagedTemplate) (ManagedTemplate, error) {
	if err := t.refuseTaken(ctx, org.ID, created.Slug); err != nil {
		return ManagedTemplate{}, err
	}
	if err := t.refuseMore(ctx, org.ID); err != nil {
		return ManagedTemplate{}, err
	}
	created.ID, created.DeployedName, created.CreatedAt = core.NewID(), DeployedName(org.Slug, created.Slug), t.Clock()
	created.Newest.SavedAt = created.CreatedAt
	return created, t.Managed.InsertManaged(ctx, org.ID, created)
}

func (t Definitions) replace(ctx context.Context, orgID string, stored ManagedTemplate, d Definition, data string, by Author) error {
	before := stored.Newest
	next := d.version(before.Number+1, by)
	if next.Hash == before.Hash && before.Number > 0 {
		if err := t.Managed.SetFaults(ctx, orgID, stored.ID, nil); err != nil {
			return err
		}
		return t.Managed.SetTestData(ctx, orgID, stored.ID, data)
	}
	next.SavedAt = t.Clock()
	stored.Newest, stored.TestData = next, data
	return t.Managed.AddVersion(ctx, orgID, before.Hash, stored)
}

func (d Definition) version(number int, by Author) Version {
	return Version{Number: number, Subject: d.Subject, HTML: d.HTML, Text: d.Text, Hash: HashOf(d.content()), SavedBy: by}
}
