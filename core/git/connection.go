package git

import (
	"time"

	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Kind is the kind of a repository, which chooses the Host.
type Kind string

// The kinds of repositories.
const (
	Local  Kind = "local"  // a folder on the server
	Remote Kind = "remote" // any server that speaks the Git protocol over HTTPS
	GitHub Kind = "github" // by the API of GitHub, as an installed app
)

// State is what the last sync of a connection ended with.
type State string

// The states of a connection.
const (
	Waiting State = "waiting" // it was never read
	Synced  State = "synced"  // the newest commit is applied, possibly with diagnostics
	Failed  State = "failed"  // the repository could not be read or applied; see Connection.Failure
)

// Connection is the repository of an organization. An organization has at most one.
type Connection struct {
	OrgID string
	// ID is a UUID. A repository that is connected again has another.
	ID   string
	Kind Kind
	// Location is the absolute path of a folder for Local, an https URL without credentials for
	// Remote, and "owner/name" for GitHub.
	Location string
	// PathPrefix is the folder with the manifest, without "/" at its ends. "" is the root.
	PathPrefix string
	// Username and Secret are sent to a Remote repository, as in HTTP basic authentication. Both are
	// "" for a repository that needs none. Secret is only set for a Host; the database has it
	// encrypted.
	Username, Secret string
	// Installation is the id of the installation of the app for GitHub, 0 otherwise.
	Installation int64

	// Revision is the last that was applied; the zero value before the first sync.
	Revision Revision
	// Manifest is the manifest of Revision, nil if it has none.
	Manifest []byte
	// TestData are the paths of the files of Revision in the folders of test data that Manifest names,
	// sorted and relative to PathPrefix.
	TestData []string
	// ReadAt is the time of the last attempt, the zero time before the first.
	ReadAt time.Time
	State  State
	// Failure says why the last attempt failed, "" if it did not. It may quote names of the
	// repository.
	Failure string
	// Diagnostics are what is wrong with the files of Revision. Their paths are relative to
	// PathPrefix.
	Diagnostics []definitions.Diagnostic
	CreatedAt   time.Time
}

// Revision is a commit of the default branch.
type Revision struct {
	// Branch is the name of the default branch without refs/heads/, such as "main".
	Branch string
	// Commit is the id of the commit in lower-case hexadecimal digits.
	Commit string
	// CommittedAt is the time that the commit states, which its author chose.
	CommittedAt time.Time
}
