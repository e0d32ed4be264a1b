package developers

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// keyNotices are the messages that the pages of API keys show after a change, by name.
var keyNotices = frame.Notices{
	"scopes":  "The scopes are changed. They apply from the next request on.",
	"same":    "The key already had these scopes. Nothing was changed.",
	"revoked": "The key is revoked. Every request with it is refused.",
}

// keyRow is the data of an API key in lists and on its own page.
type keyRow struct {
	Path, Name, Prefix string
	Environment        core.Environment
	Scopes             int
	Created            string
	State              access.KeyState
	Until              string // when the key stopped or will stop working; "" for an active key without expiry
	Works              bool
}

// newKeyRow returns the data of a key for the pages, with its state at the time now. The
// shown prefix identifies the key and is not secret.
func newKeyRow(k access.APIKey, now time.Time) keyRow {
	row := keyRow{
		Path: KeysPath + "/" + k.ID, Name: frame.PlainName(k.Name), Prefix: fmt.Sprintf("sk_%s_%s…", k.Environment, k.Prefix),
		Environment: k.Environment, Scopes: len(k.Scopes), Created: k.CreatedAt.UTC().Format(frame.DateLayout), State: k.StateAt(now),
	}
	row.Works = row.State == access.KeyActive || row.State == access.KeyInGrace
	switch {
	case row.State == access.KeyRevoked:
		row.Until = k.RevokedAt.UTC().Format(frame.DateLayout)
	case k.ExpiresAt != nil:
		row.Until = k.ExpiresAt.UTC().Format(frame.MomentLayout)
	}
	return row
}

// keyList is the data of the page that lists the API keys.
type keyList struct {
	// Working has the keys that work, including rotated ones in their grace period. Over has
	// the keys that no longer work.
	Working, Over []keyRow
}

// showKeys lists all API keys of the organization, working ones first.
func (h keyHandlers) showKeys(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	keys, err := h.Keys.APIKeysOf(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("API keys: %w", err))
		return
	}
	data, now := keyList{}, h.Clock()
	for _, k := range keys {
		if row := newKeyRow(k, now); row.Works {
			data.Working = append(data.Working, row)
		} else {
			data.Over = append(data.Over, row)
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "keys", Title: "API keys", Notice: keyNotices.NoticeOf(r), Data: data, Head: frame.Head{
		Count: strconv.Itoa(len(data.Working)), Actions: []frame.Action{{Path: NewKeyPath, Name: "Create key", Primary: true}},
		Lead: "With a key, a program calls the API without a person. Give each program its own key with only the scopes that it needs.",
	}})
}

// keyPage is the data of the page of one API key.
type keyPage struct {
	Key    keyRow
	Scopes []scopeChoice
}

// keyHead returns the buttons of the page of one key. A key in its grace period has been
// rotated already.
func keyHead(row keyRow) frame.Head {
	var head frame.Head
	if row.Works {
		head.Actions = append(head.Actions, frame.Action{Path: row.Path + "/scopes", Name: "Edit scopes"})
	}
	if row.State == access.KeyActive {
		head.Actions = append(head.Actions, frame.Action{Path: row.Path + "/rotate", Name: "Rotate key"})
	}
	if row.Works {
		head.Actions = append(head.Actions, frame.Action{Path: row.Path + "/revoke", Name: "Revoke key", Danger: true})
	}
	return head
}

// underKey returns the head of a page about a change of a key.
func underKey(row keyRow) frame.Head {
	return frame.Head{Parents: []frame.Link{{Path: row.Path, Name: row.Name}}}
}

// showKey shows the page of one API key, with its scopes and links to the changes that are
// possible.
func (h keyHandlers) showKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	k, ok := h.keyOf(w, r, v)
	if !ok {
		return
	}
	row := newKeyRow(k, h.Clock())
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "key", Title: row.Name, Head: keyHead(row), Notice: keyNotices.NoticeOf(r), Data: keyPage{
		Key: row, Scopes: scopeRows(k.Scopes),
	}})
}

// keyOf returns the API key whose id is in the path. If it returns false, it has written
// the response: a page of status 404 or an error.
func (h keyHandlers) keyOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (access.APIKey, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return access.APIKey{}, false
	}
	k, err := h.Keys.APIKey(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return access.APIKey{}, false
	}
	return k, true
}

// workingKeyOf returns the API key whose id is in the path, if it still works. If it
// returns false, it has written the response: a refusal of a revoked or expired key, a page
// of status 404, or an error.
func (h keyHandlers) workingKeyOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (access.APIKey, bool) {
	k, ok := h.keyOf(w, r, v)
	if !ok {
		return access.APIKey{}, false
	}
	if !newKeyRow(k, h.Clock()).Works {
		h.Refuse(w, r, v, http.StatusConflict, "This API key has ended", "Create a new key.")
		return access.APIKey{}, false
	}
	return k, true
}
