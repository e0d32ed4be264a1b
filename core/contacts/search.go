package contacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
)

// State selects contacts by whether mail may be sent to them.
type State string

// The states by which a search selects contacts. AnyActive selects contacts that are not
// archived. Unmailable selects active contacts with the global opt-out, and those known only
// from activities.
const (
	AnyActive    State = ""
	OnlyMailable State = "mailable"
	Unmailable   State = "unmailable"
	OnlyArchived State = "archived"
)

// Search selects contacts for a person who looks for some of them. A contact must match all
// members that are set.
type Search struct {
	// Text is the whole id of a contact, or a part of its address, external id or name. The
	// case of ASCII letters does not matter.
	Text  string
	State State
	// Topic and Subscription are as in [ContactFilter].
	Topic        string
	Subscription sending.Subscription
	// List and Segment are ids.
	List, Segment string
	// AttributeKey and AttributeValue are as in [ContactFilter].
	AttributeKey   string
	AttributeValue string
	Cursor         string
	Limit          int
}

// Found is one page of the contacts that a search selects, newest first. Their Lists are not
// set.
type Found struct {
	core.Page[Contact]
	// Total is the number of all contacts that match, or -1 if counting them takes too long.
	Total int64
}

// SearchStore finds contacts by several filters at once. Every method sees only the given
// organization.
type SearchStore interface {
	// FindContacts returns at most f.Limit contacts that match, newest first by creation time
	// and id.
	FindContacts(ctx context.Context, orgID string, f SearchFilter) ([]Contact, error)
	// CountFound returns the number of contacts that match. It counts up to most.
	CountFound(ctx context.Context, orgID string, f SearchFilter, most int) (int, error)
	// ListKeys returns the keys of the static lists of each contact, sorted, by the contacts'
	// ids.
	ListKeys(ctx context.Context, orgID string, contactIDs []string) (map[string][]string, error)
}

// SearchFilter is a [Search] in the form that the store needs.
type SearchFilter struct {
	Search
	// Names has the attributes that are parts of a name, in the order in which a name has
	// them.
	Names []string
	After *core.After
	Limit int
}

// Directory finds contacts for people, who look for them by parts of names and addresses.
type Directory struct{ *Contacts }

// NewDirectory returns the directory of the contacts.
func NewDirectory(cs *Contacts) Directory { return Directory{cs} }

const (
	// maxSearchText is the maximum length of the text of a search, in bytes.
	maxSearchText = 254
	// countedMost is the number up to which the contacts of a search are counted, and
	// countingTime the time limit of the count.
	countedMost  = 100_000
	countingTime = time.Second
)

// Search returns one page of the contacts that match, and their number if counting takes
// less than a second. It is an expensive read: no index covers most of the filters. It fails
// with core.CodeValidationFailed for an invalid text, attribute or cursor.
func (d Directory) Search(ctx context.Context, orgID string, s Search) (Found, error) {
	f, err := d.searchFilter(ctx, orgID, s)
	if err != nil {
		return Found{}, err
	}
	page, err := core.ReadPage(s.filterText(), s.Cursor, s.Limit, func(after *core.After, limit int) ([]Contact, error) {
		f.After, f.Limit = after, limit
		return d.findMailable(ctx, orgID, f)
	}, placeOf)
	if err != nil {
		return Found{}, err
	}
	found := Found{Page: page, Total: int64(len(page.Items))}
	if s.Cursor != "" || page.Next != "" {
		found.Total, err = d.countFound(ctx, orgID, f)
	}
	return found, err
}

// exportedAtOnce is the number of contacts that Export returns at a time.
const exportedAtOnce = 1000

// Export returns the next contacts that match the search, newest first, with the keys of
// their lists. after is the position that the previous call returned, nil for the first
// call. The returned position is nil at the end. Export is an expensive read.
func (d Directory) Export(ctx context.Context, orgID string, s Search, after *core.After) ([]Contact, *core.After, error) {
	f, err := d.searchFilter(ctx, orgID, s)
	if err != nil {
		return nil, nil, err
	}
	f.After, f.Limit = after, exportedAtOnce
	page, err := d.findMailable(ctx, orgID, f)
	if err != nil || len(page) == 0 {
		return nil, nil, err
	}
	ids := make([]string, len(page))
	for i, c := range page {
		ids[i] = c.ID
	}
	keys, err := d.Searches.ListKeys(ctx, orgID, ids)
	for i, c := range page {
		for _, key := range keys[c.ID] {
			page[i].Lists = append(page[i].Lists, lists.Ref{Key: key})
		}
	}
	if err != nil || len(page) < exportedAtOnce {
		return page, nil, err
	}
	last := placeOf(page[len(page)-1])
	return page, &last, nil
}

func placeOf(c Contact) core.After { return core.After{At: c.CreatedAt, ID: c.ID} }

func (d Directory) findMailable(ctx context.Context, orgID string, f SearchFilter) ([]Contact, error) {
	page, err := d.Searches.FindContacts(ctx, orgID, f)
	for i := range page {
		page[i] = page[i].withMailable()
	}
	return page, err
}

// searchFilter checks the search and returns it in the form that the store needs.
func (d Directory) searchFilter(ctx context.Context, orgID string, s Search) (SearchFilter, error) {
	s.Text = strings.TrimSpace(s.Text)
	_, hidden := core.VisibleText(s.Text)
	switch {
	case hidden > 0 || len(s.Text) > maxSearchText || !utf8.ValidString(s.Text):
		return SearchFilter{}, core.Invalid("q", fmt.Sprintf("must be at most %d visible characters of an address, an id or a name", maxSearchText))
	case s.AttributeKey == "" && s.AttributeValue != "":
		return SearchFilter{}, core.Invalid("attribute", "is missing for the value "+core.QuotedList([]string{s.AttributeValue}))
	}
	f := SearchFilter{Search: s}
	if s.Text == "" && s.AttributeKey == "" {
		return f, nil
	}
	registered, err := d.Attributes.Attributes(ctx, orgID)
	if err != nil {
		return f, err
	}
	known := attributes.NewRegistry(registered)
	if _, is := known[s.AttributeKey]; s.AttributeKey != "" && !is {
		return f, core.Invalid("attribute", "is not a registered attribute: "+core.QuotedList([]string{s.AttributeKey}))
	}
	for _, parts := range nameParts {
		for _, name := range parts {
			if known[name].Type == attributes.String {
				f.Names = append(f.Names, name)
			}
		}
	}
	return f, nil
}

// countFound returns the number of contacts that match, or -1 if there are more than
// countedMost or if counting takes longer than countingTime.
func (d Directory) countFound(ctx context.Context, orgID string, f SearchFilter) (int64, error) {
	bounded, cancel := context.WithTimeout(ctx, countingTime)
	defer cancel()
	f.After = nil
	n, err := d.Searches.CountFound(bounded, orgID, f, countedMost+1)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded):
		return -1, nil
	case n > countedMost:
		return -1, err
	}
	return int64(n), err
}

// filterText returns the filters as one text. A cursor is valid only for a search with the
// same text.
func (s Search) filterText() string {
	return fmt.Sprintf("search %q %q %q %q %q %q %q %q", strings.TrimSpace(s.Text), s.State, s.Topic, cmp.Or(s.Subscription, sending.OptIn),
		s.List, s.Segment, s.AttributeKey, s.AttributeValue)
}

// Contact returns the contact with this id, archived or not, with its consent as of the last
// sync. It fails with core.CodeNotFound if there is none.
func (d Directory) Contact(ctx context.Context, orgID, id string) (Contact, error) {
	if !core.IsID(id) {
		return Contact{}, core.NotFound("contact")
	}
	found, err := d.Store.ContactByID(ctx, orgID, id)
	return found.withMailable(), err
}

// VisitorID returns the visitor id of a contact, or "" if it has none. It is a credential.
func (d Directory) VisitorID(ctx context.Context, orgID, contactID string) (string, error) {
	return d.VisitorIDs.Current(ctx, orgID, contactID)
}
