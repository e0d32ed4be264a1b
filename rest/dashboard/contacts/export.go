package contacts

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactfile"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// ExportPath is the path of the form that exports contacts.
const ExportPath = Path + "/export"

// pageTime is how long writing one page of an export to the visitor may take.
const pageTime = 30 * time.Second

// filterNames are the names of the filters in a query and in the form of an export.
var filterNames = []string{"q", "status", "topic", "list", "segment", "attribute", "value"}

// maxFilterDetail is the maximum length of a filter in the audit log, in characters.
const maxFilterDetail = 200

// exportForm is the data of the form that exports the contacts with the present filters.
type exportForm struct {
	Form    frame.Form
	Filters []frame.Option
}

// exportFormOf returns the form that repeats the filters of the query.
func exportFormOf(v people.Visitor, query url.Values) exportForm {
	f := exportForm{Form: frame.FormTo(v, ExportPath)}
	for _, name := range filterNames {
		if value := query.Get(name); value != "" {
			f.Filters = append(f.Filters, frame.Option{Name: name, Value: value})
		}
	}
	return f
}

// exportContacts sends the contacts that match the filters of the form as a CSV file. It
// reads page by page, each as an expensive read of its own, so that an export of any size
// needs little memory and blocks no other read. Each page needs the permission, because an
// export can take long. If a page cannot be read, the connection is closed, so that the
// browser reports an incomplete file.
func (h listHandlers) exportContacts(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	known := h.readFilters(r, v, r.PostForm)
	search, err := known.searchOf(r.PostForm)
	var first []audience.Contact
	var after *core.After
	if err == nil {
		first, after, err = h.exportPage(r.Context(), v, search, nil)
	}
	if err == nil {
		err = h.TransactorWith(v, members.MayViewContacts).InTx(r.Context(), func(ctx context.Context) error {
			return h.Record(ctx, v, "contacts.exported", v.Org.ID, filterDetail(r.PostForm))
		})
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.BeginCSV(w, "contacts-"+h.Clock().UTC().Format(frame.DateLayout)+".csv")
	file := csv.NewWriter(w)
	write := func(page []audience.Contact) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTime)) //nolint:forbidigo // a deadline of the connection; without support, the server's own deadline applies
		for _, c := range page {
			_ = file.Write(known.csvRow(c)) // reported by file.Error
		}
		if file.Flush(); file.Error() != nil {
			panic(http.ErrAbortHandler)
		}
	}
	_ = file.Write(known.csvHeader())
	for write(first); after != nil; write(first) {
		if first, after, err = h.exportNextPage(r.Context(), v, search, after); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// exportPage reads the next page of an export.
func (h listHandlers) exportPage(ctx context.Context, v people.Visitor, s audience.Search, after *core.After) (page []audience.Contact, next *core.After, err error) { //nolint:nonamedreturns // says which
	err = h.Expensive(ctx, v.Org.ID, func(ctx context.Context) error {
		var err error
		page, next, err = h.Directory.Export(ctx, v.Org.ID, s, after)
		return err
	})
	return page, next, err
}

// exportNextPage reads the next page of an export. It fails with invalid_scope if the visitor
// has lost the permission since the page before.
func (h listHandlers) exportNextPage(ctx context.Context, v people.Visitor, s audience.Search, after *core.After) ([]audience.Contact, *core.After, error) {
	err := h.TransactorWith(v, members.MayViewContacts).InTx(ctx, func(context.Context) error { return nil })
	if err != nil {
		return nil, nil, err
	}
	return h.exportPage(ctx, v, s, after)
}

// filterDetail returns the filters for the audit log, shortened. It leaves out every other
// field of the form.
func filterDetail(form url.Values) map[string]any {
	detail := map[string]any{}
	for _, name := range filterNames {
		if value := form.Get(name); value != "" {
			detail[name] = core.Quotable(strings.ToValidUTF8(value, "\uFFFD"), maxFilterDetail)
		}
	}
	return detail
}

// csvHeader returns the names of the columns. Those before contact_id are names that an
// import understands.
func (k choices) csvHeader() []string {
	header := []string{"email", "external_id", "unsubscribe_all", "lists"}
	for _, t := range k.Topics {
		header = append(header, "topics."+t.Name)
	}
	for _, a := range k.Attributes {
		header = append(header, "attributes."+a.Name)
	}
	return append(header, "contact_id", "status", "mailable", "created_at", "updated_at")
}

// csvRow returns the cells of a contact. Texts of others are written so that no spreadsheet
// program computes them.
func (k choices) csvRow(c audience.Contact) []string {
	external, chosen := "", map[string]string{}
	if c.ExternalID != nil {
		external = *c.ExternalID
	}
	for _, p := range c.TopicPreferences {
		chosen[p.Topic] = string(p.SubscriptionStatus)
	}
	keys := make([]string, len(c.Lists))
	for i, l := range c.Lists {
		keys[i] = l.Key
	}
	row := []string{contactfile.EscapeFormula(c.Email), contactfile.EscapeFormula(external), strconv.FormatBool(c.UnsubscribeAll), contactfile.EscapeFormula(strings.Join(keys, "|"))}
	for _, t := range k.Topics {
		row = append(row, chosen[t.Name])
	}
	for _, a := range k.Attributes {
		text := textOf(c.Attributes[a.Name])
		if _, isText := c.Attributes[a.Name].(string); isText {
			text = contactfile.EscapeFormula(text)
		}
		row = append(row, text)
	}
	return append(row, c.ID, string(c.Status), strconv.FormatBool(c.Mailable), c.CreatedAt.UTC().Format(time.RFC3339), c.UpdatedAt.UTC().Format(time.RFC3339))
}
