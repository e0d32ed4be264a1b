package workflows

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// named is a thing with a link to its page. The path is "" if there is no page, or if the
// visitor may not open it.
type named struct{ Path, Name string }

// link returns a link to a record of another room. area is the path of the room's list.
func (h *Room) link(v people.Visitor, area, id, name string) named {
	n := named{Name: frame.PlainName(name)}
	if h.MayOpen(v, area) {
		n.Path = area + "/" + url.PathEscape(id)
	}
	return n
}

// contactOf returns the link to a contact. names has the addresses of contacts by id.
func (h *Room) contactOf(v people.Visitor, id string, names map[string]string) named {
	if names[id] == "" {
		return named{Name: "a deleted contact"}
	}
	return h.link(v, contactsPath, id, names[id])
}

// namesOf returns the addresses of the contacts of runs, by id.
func (h *Room) namesOf(ctx context.Context, v people.Visitor, runs []workflows.Run) (map[string]string, error) {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ContactID)
	}
	return h.Editor.Runs.ContactNames(ctx, v.Org.ID, ids)
}

// count returns a number with commas between thousands.
func count(n int) string { return frame.WithCommas(int64(n)) }

// pathOf returns the path of a page of a workflow.
func pathOf(w workflows.Workflow, page string) string {
	return Path + "/" + url.PathEscape(w.ID) + page
}

// authorOf returns the words for the person or the credential that saved a version.
func authorOf(ctx context.Context, names *actors.Names, by workflows.Author) (string, error) {
	switch core.CredentialKind(by.Kind) {
	case core.Person:
		return names.Person(ctx, by.ID)
	case core.APIKey, core.OAuthClient:
		credential, err := names.Credential(ctx, by.ID, by.UserID)
		if err != nil || by.UserID == "" {
			return credential, err
		}
		person, err := names.Person(ctx, by.UserID)
		return credential + " for " + person, err
	}
	return "the operator", nil
}

// perDayWords returns an average of things a day without superfluous digits.
func perDayWords(n float64) string {
	if n > 0 && n < 0.1 {
		return "less than 0.1"
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
}

// versionWords returns "Version 3".
func versionWords(n int) string { return "Version " + strconv.Itoa(n) }
