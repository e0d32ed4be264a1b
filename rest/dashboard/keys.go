package dashboard

import (
	"fmt"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const keysPath = Path + "/keys"

// momentLayout is an instant as people read it; all are UTC and say so.
const momentLayout = "2006-01-02 15:04 UTC"

func (d *Dashboard) keyPages() []route {
	manage := access.MayManageCredentials
	return []route{
		{path: "/keys", needs: manage, get: d.showKeys},
		{path: "/keys/new", needs: manage, get: d.showNewKey, post: d.createKey},
		{path: "/keys/{id}", needs: manage, get: d.showKey},
		{path: "/keys/{id}/scopes", needs: manage, get: d.showKeyScopes, post: d.editKeyScopes},
		{path: "/keys/{id}/rotate", needs: manage, get: d.showRotateKey, post: d.rotateKey},
		{path: "/keys/{id}/revoke", needs: manage, get: d.showRevokeKey, post: d.revokeKey},
	}
}

var keyNotices = notices{
	"scopes":  "The scopes are changed. They count from now on.",
	"same":    "These are the scopes that the key had already. Nothing was changed.",
	"revoked": "The key is revoked. Every request with it is refused from now on.",
}

// keyRow is a key as lists and its own page show it.
type keyRow struct {
	Path, Name, Prefix string
	Environment        core.Environment
	Scopes             int
	Created            string
	State              access.KeyState
	Until              string // the end of the grace, or when the key ended
	Works              bool
}

func newKeyRow(k access.APIKey, now time.Time) keyRow {
	row := keyRow{
		Path: keysPath + "/" + k.ID, Name: plainName(k.Name), Prefix: fmt.Sprintf("sk_%s_%s…", k.Environment, k.Prefix),
		Environment: k.Environment, Scopes: len(k.Scopes), Created: k.CreatedAt.UTC().Format(dateLayout), State: k.StateAt(now),
	}
	row.Works = row.State == access.KeyActive || row.State == access.KeyInGrace
	switch {
	case row.State == access.KeyRevoked:
		row.Until = k.RevokedAt.UTC().Format(dateLayout)
	case k.ExpiresAt != nil:
		row.Until = k.ExpiresAt.UTC().Format(momentLayout)
	}
	return row
}

// plainName is a name without the characters that reorder or hide what stands
// around it.
func plainName(name string) string {
	visible, _ := core.VisibleText(name)
	return visible
}

// keyList is what the page of all keys shows.
type keyList struct {
	NewPath       string
	Working, Over []keyRow
}

func (d *Dashboard) showKeys(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	keys, err := d.Keys.APIKeysOf(r.Context(), v.Org.ID)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("API keys: %w", err))
		return
	}
	data, now := keyList{NewPath: keysPath + "/new"}, d.Clock()
	for _, k := range keys {
		if row := newKeyRow(k, now); row.Works {
			data.Working = append(data.Working, row)
		} else {
			data.Over = append(data.Over, row)
		}
	}
	d.show(w, r, v, http.StatusOK, screen{page: "keys", title: "API keys", notice: keyNotices.of(r), data: data})
}

// keyPage is what the page of one key shows.
type keyPage struct {
	Key    keyRow
	Scopes []scopeChoice
	// MayRotate is true for an active key: one in grace was rotated already.
	MayRotate bool
}

func (d *Dashboard) showKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	k, ok := d.keyOf(w, r, v)
	if !ok {
		return
	}
	row := newKeyRow(k, d.Clock())
	d.show(w, r, v, http.StatusOK, screen{page: "key", title: row.Name, notice: keyNotices.of(r), data: keyPage{
		Key: row, Scopes: scopeRows(k.Scopes), MayRotate: row.State == access.KeyActive,
	}})
}

// keyOf finds the key in the path. It has answered when it returns false.
func (d *Dashboard) keyOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (access.APIKey, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		d.noSuchPage(w, r, v)
		return access.APIKey{}, false
	}
	k, err := d.Keys.APIKey(r.Context(), v.Org.ID, id)
	if err != nil {
		d.fail(w, r, v, err)
		return access.APIKey{}, false
	}
	return k, true
}

// workingKeyOf is keyOf for what can only be done with a key that works.
func (d *Dashboard) workingKeyOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (access.APIKey, bool) {
	k, ok := d.keyOf(w, r, v)
	if !ok {
		return access.APIKey{}, false
	}
	if !newKeyRow(k, d.Clock()).Works {
		d.refuse(w, r, v, http.StatusConflict, "This API key has ended", "Create a new key.")
		return access.APIKey{}, false
	}
	return k, true
}
