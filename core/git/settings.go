package git

import (
	"context"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// maxLocation, maxUsername and maxSecret are the maximum lengths of settings, in bytes.
const (
	maxLocation = 500
	maxUsername = 200
	maxSecret   = 4000
)

// Settings connects and disconnects repositories. Callers check the permission first, and run
// changes in a transaction.
type Settings struct {
	Store     Store
	Adoptions Adoptions
	Queue     jobs.Queue
	Clock     core.Clock
	// Kinds are the kinds that this server can read.
	Kinds []Kind
}

// Of returns the connection of an organization; false means that it has none.
func (s Settings) Of(ctx context.Context, orgID string) (Connection, bool, error) {
	c, err := s.Store.Connection(ctx, orgID)
	if core.IsNotFound(err) {
		return Connection{}, false, nil
	}
	return c, err == nil, err
}

// Connect stores a connection and requests its first sync. The fields about the last sync are
// ignored. It fails with core.CodeValidationFailed for invalid settings, and with
// core.CodeConflict if the organization has a connection.
func (s Settings) Connect(ctx context.Context, c Connection) (Connection, error) {
	c, err := s.checked(c)
	if err != nil {
		return Connection{}, err
	}
	c.ID, c.CreatedAt, c.State = core.NewID(), s.Clock(), Waiting
	if err := s.Store.InsertConnection(ctx, c); err != nil {
		return Connection{}, err
	}
	return c, s.RequestSync(ctx, c.OrgID)
}

// Disconnect deletes the connection with this id with its proposals and adoptions. The definitions of the
// repository stay as managed ones. It fails with core.CodeNotFound if there is no such connection.
func (s Settings) Disconnect(ctx context.Context, orgID, id string) error {
	return s.Store.DeleteConnection(ctx, orgID, id)
}

// RequestSync lets a job read the repository soon. It may be repeated. It fails with
// core.CodeNotFound without a connection.
func (s Settings) RequestSync(ctx context.Context, orgID string) error {
	if err := s.Store.RequestSync(ctx, orgID); err != nil {
		return err
	}
	return s.Queue.Enqueue(ctx, SyncArgs{OrgID: orgID})
}

// checked returns the connection as it is stored.
func (s Settings) checked(c Connection) (Connection, error) {
	var faults []core.FieldError
	refuse := func(field, reason string) { faults = append(faults, core.FieldError{Field: field, Reason: reason}) }
	c.Location, c.PathPrefix, c.Username = strings.TrimSpace(c.Location), strings.Trim(strings.TrimSpace(c.PathPrefix), "/"), strings.TrimSpace(c.Username)
	known := false
	for _, kind := range s.Kinds {
		known = known || kind == c.Kind
	}
	if !known {
		refuse("kind", "is not a kind of repository that this server reads")
	}
	if reason := locationFault(c); reason != "" {
		refuse("location", reason)
	}
	if reason := archive.CheckPath(c.PathPrefix); c.PathPrefix != "" && reason != "" {
		refuse("path_prefix", reason)
	}
	switch hasControl := strings.ContainsFunc(c.Username+c.Secret, unicode.IsControl); {
	case c.Kind != Remote && c.Username+c.Secret != "":
		refuse("secret", "is only used for repositories on other servers")
	case len(c.Username) > maxUsername || len(c.Secret) > maxSecret || hasControl || strings.Contains(c.Username, ":"):
		refuse("secret", "or the user name is too long, or has characters that credentials cannot have")
	case c.Username != "" && c.Secret == "":
		refuse("secret", "is missing; enter the password or the token of the user name")
	}
	if len(faults) > 0 {
		return c, core.InvalidFields(faults...)
	}
	return c, nil
}

// locationFault returns what is wrong with the location of a repository, "" for nothing.
func locationFault(c Connection) string {
	if c.Location == "" || len(c.Location) > maxLocation || strings.ContainsFunc(c.Location, unicode.IsControl) {
		return "must have 1 to 500 bytes without control characters"
	}
	switch c.Kind {
	case Local:
		if !path.IsAbs(c.Location) || path.Clean(c.Location) != c.Location {
			return "must be the absolute path of a folder, such as /srv/git/definitions.git, without . and .."
		}
	case GitHub:
		if c.Installation <= 0 {
			return "must be chosen on the page that connects repositories on GitHub"
		}
	case Remote:
		u, err := url.Parse(c.Location)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Path == "" || u.Path == "/" {
			return "must be an https URL, such as https://git.example.com/team/definitions.git"
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
			return "must have no user name, query and fragment; enter credentials in their own fields"
		}
	}
	return ""
}
