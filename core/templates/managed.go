package templates

import (
	"context"
	"time"
)

// The sources of templates: Import for copies of the sending account's templates, Managed
// for templates that Mailhelm stores with their versions, and Git for those of them that the
// connected repository defines. Git ones are managed templates in all but their editing.
const (
	Import  = "import"
	Managed = "managed"
	Git     = "git"
)

// ManagedTemplate is a template that Mailhelm stores, with the content of its newest
// version.
type ManagedTemplate struct {
	ID   string
	Slug string
	// DeployedName is the template's name in the sending account. It never changes.
	DeployedName string
	// TestData is a JSON object whose members are sets of sample values, "" for none.
	TestData string
	// CreatedAt is the time at which the template was stored first.
	CreatedAt time.Time
	// Newest is the newest version. Its number is 0 if the files of the template in the
	// repository were never valid: there is then no content that can be sent.
	Newest Version
	// Faults says what is wrong with the files of the template in the repository, as sentences.
	// Newest is then the last content without faults.
	Faults []string
}

// Version is one saved content of a managed template. Versions never change.
type Version struct {
	Number              int // from 1, without gaps
	Subject, HTML, Text string
	// Hash is [HashOf] the content.
	Hash string
	// Message says why the content was changed, "" for none.
	Message string
	SavedBy Author
	SavedAt time.Time
	// DeployedName is the template's name in the sending account. Only [Templates.Version]
	// sets it.
	DeployedName string
}

// Author is the credential that saved a version.
type Author struct {
	Kind string // api_key, oauth_client, user or operator
	ID   string
	// UserID is the person for whom an application acted, "" for none.
	UserID string
}

// ManagedStore stores managed templates and their versions. Every method takes part in the
// transaction of its context, and reads and writes only the data of the given organization.
type ManagedStore interface {
	// InsertManaged stores a new template and its first version, or no version if its number is
	// 0. It fails with core.CodeConflict if a template of any source has the slug or the
	// deployed name.
	InsertManaged(ctx context.Context, orgID string, t ManagedTemplate) error
	// AddVersion makes t.Newest the newest version of the template with t.ID, if its newest
	// version has the hash base and the number before that of t.Newest. Otherwise it fails
	// with core.CodeConflict, because another version was saved since. It removes t.Faults.
	AddVersion(ctx context.Context, orgID, base string, t ManagedTemplate) error
	// SetTestData replaces the test data of a managed template.
	SetTestData(ctx context.Context, orgID, templateID, testData string) error
	// SetFaults replaces what is wrong with the files of a managed template in the repository.
	SetFaults(ctx context.Context, orgID, templateID string, faults []string) error
	// SetTopic replaces the topic of the messages of a managed template; "" removes it.
	SetTopic(ctx context.Context, orgID, templateID, topic string) error
	// ManagedBySlug returns the managed template with the slug. It fails with
	// core.CodeNotFound for an unknown slug and for a copy of the account's template.
	ManagedBySlug(ctx context.Context, orgID, slug string) (ManagedTemplate, error)
	// VersionBySlug returns one version of the managed template with the slug. It fails with
	// core.CodeNotFound for an unknown slug or version, and for a copy of the account's
	// template.
	VersionBySlug(ctx context.Context, orgID, slug string, number int) (Version, error)
	// Versions returns the versions of a template with numbers below before, the newest first,
	// at most limit. They have no HTML and no text, because a list of many versions would be
	// too large with them.
	Versions(ctx context.Context, orgID, templateID string, before, limit int) ([]Version, error)
	// ManagedNames returns the deployed names of all managed templates.
	ManagedNames(ctx context.Context, orgID string) ([]string, error)
}
