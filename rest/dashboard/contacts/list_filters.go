package contacts

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notSubscribed is the prefix of a topic in the query that selects contacts that are not
// subscribed to the topic.
const notSubscribed = "!"

// filterLabels has the names of the filters in refusals.
var filterLabels = frame.Labels{"q": "The search", "attribute": "The attribute", "list": "The list", "segment": "The segment", "cursor": "The page's address"}

// filters has the values of the filters, with the options of each select field. A field
// without options is not shown.
type filters struct {
	Query          string
	State          string
	States, Topics []frame.Option
	Sets           []setFilter // by list and by segment
	Attributes     []frame.Option
	Value          string
	Narrow         bool // whether any filter is set
	More           bool // whether a filter among the further ones is set
}

// setFilter is the field of a list or segment. It is a select field, or a text field that
// suggests the options if there are more sets than options. A text field is shown without
// options too.
type setFilter struct {
	Name, Label string
	Options     []frame.Option
	Typed       bool
	Value       string // the key of the chosen set, "" for none
}

// choices has the topics, lists, segments and attributes that exist, as far as the visitor
// may see them.
type choices struct {
	Topics     []topic
	Lists      sets
	Segments   sets
	Attributes []attribute
}

// sets has lists or segments that are not archived: the newest, and the one that the address
// of the page names. More is true if there may be others.
type sets struct {
	All  []named
	More bool
}

// topic, named and attribute have members of the results of operations.
type (
	topic struct {
		Name        string               `json:"name"`
		DisplayName string               `json:"display_name"`
		Default     sending.Subscription `json:"default_subscription_status"`
	}
	named struct {
		ID     string `json:"id"`
		Key    string `json:"key"`
		Name   string `json:"name"`
		Status string `json:"status"`
	}
	attribute struct {
		Name        string   `json:"name"`
		Type        string   `json:"type"`
		EnumValues  []string `json:"enum_values"`
		Description string   `json:"description"`
	}
)

// title returns the name that people gave to a topic, or its own name.
func (t topic) title() string {
	if t.DisplayName != "" {
		return frame.PlainName(t.DisplayName)
	}
	return frame.PlainName(t.Name)
}

const (
	// mostChoices is the number of lists and of segments that the filters offer. It is also
	// the number that is read with one call.
	mostChoices = 200
	// mostSetPages is the maximum number of calls that read lists or segments. The first
	// pages may have only archived ones.
	mostSetPages = 5
)

// readChoices reads what the filters offer. It leaves out what the visitor may not see, and
// the topics if the sending account does not answer.
func (c *Contacts) readChoices(r *http.Request, v people.Visitor) choices {
	known := c.readDefinitions(r, v)
	for _, read := range known.setReads() {
		if v.Member.Has(read.needs) {
			*read.into = c.readSets(r, v, read.list)
		}
	}
	return known
}

// readSets reads the newest lists or segments that are not archived, with the operation that
// lists them. If they cannot be read, it returns none, and the page has no filter for them.
func (c *Contacts) readSets(r *http.Request, v people.Visitor, operation string) sets {
	var found sets
	arguments := map[string]any{"limit": mostChoices}
	for range mostSetPages {
		var page frame.List[named]
		if err := c.Read(r, v, operation, arguments, &page); err != nil {
			return sets{}
		}
		found.All = append(found.All, slices.DeleteFunc(page.Data, named.isArchived)...)
		if found.More = page.Next() != ""; !found.More || len(found.All) >= mostChoices {
			break
		}
		arguments["cursor"] = page.Next()
	}
	if len(found.All) > mostChoices {
		found.All, found.More = found.All[:mostChoices], true
	}
	return found
}

// setRead names the operations that read lists or segments, the permission that they need,
// and where their results belong.
type setRead struct {
	filter, list, get string
	needs             members.Permission
	into              *sets
}

func (k *choices) setReads() []setRead {
	return []setRead{
		{"list", "lists_list", "lists_get", members.MayViewLists, &k.Lists},
		{"segment", "segments_list", "segments_get", members.MayViewSegments, &k.Segments},
	}
}

func (n named) isArchived() bool { return n.Status == "archived" }

// isNamed reports whether the text is the key or the id of the list or segment.
func (n named) isNamed(text string) bool { return n.Key == text || n.ID == text }

// readFilters reads the options of the filters. They include the list and the segment that
// the query names.
func (c *Contacts) readFilters(r *http.Request, v people.Visitor, query url.Values) choices {
	known := c.readChoices(r, v)
	for _, read := range known.setReads() {
		name := query.Get(read.filter)
		if name == "" || !read.into.More || slices.ContainsFunc(read.into.All, func(n named) bool { return n.isNamed(name) }) {
			continue
		}
		var found named
		if err := c.Read(r, v, read.get, map[string]string{"id": name}, &found); err == nil && !found.isArchived() { // without the answer, the filter is refused
			read.into.All = append(read.into.All, found)
		}
	}
	return known
}

// readDefinitions reads the topics and the attributes alone, which the page of one contact
// describes.
func (c *Contacts) readDefinitions(r *http.Request, v people.Visitor) choices {
	var topics struct{ Data []topic }
	if v.Member.Has(members.MayViewContacts) {
		_ = c.Read(r, v, "topics_list", nil, &topics) // without the answer, the page has no topics
	}
	return choices{Topics: topics.Data, Attributes: c.readAttributes(r, v)}
}

// readAttributes returns all registered attributes, in order of their names. It returns none
// if they cannot be read.
func (c *Contacts) readAttributes(r *http.Request, v people.Visitor) []attribute {
	all, err := frame.ReadAll[attribute](c.Frame, r, v, "attributes_list")
	if err != nil {
		return nil // the page has no attributes
	}
	slices.SortFunc(all, func(a, b attribute) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// searchOf returns the search for the filters in the query. It fails with
// core.CodeValidationFailed for a list or segment that does not exist or that the visitor
// may not see.
func (k choices) searchOf(query url.Values) (audience.Search, error) {
	s := audience.Search{
		Text: query.Get("q"), State: audience.State(query.Get("status")),
		AttributeKey: query.Get("attribute"), AttributeValue: query.Get("value"),
	}
	if name, isNot := strings.CutPrefix(query.Get("topic"), notSubscribed); isNot {
		s.Topic, s.Subscription = name, sending.OptOut
	} else {
		s.Topic = name
	}
	if s.AttributeKey == "" || s.AttributeValue == "" { // the other half is not entered yet
		s.AttributeKey, s.AttributeValue = "", ""
	}
	var err error
	if s.List, err = idOf(k.Lists, "list", query); err != nil {
		return s, err
	}
	s.Segment, err = idOf(k.Segments, "segment", query)
	return s, err
}

// idOf returns the id of the list or segment that the query names by key or id. It returns ""
// if the query names none, and fails with core.CodeValidationFailed for an unknown one.
func idOf(known sets, filter string, query url.Values) (string, error) {
	key := query.Get(filter)
	if key == "" {
		return "", nil
	}
	at := slices.IndexFunc(known.All, func(n named) bool { return n.isNamed(key) })
	if at < 0 {
		return "", core.Invalid(filter, fmt.Sprintf("%q does not exist, or you may not see it", frame.PlainName(key)))
	}
	return known.All[at].ID, nil
}

// filtersOf returns the filters of the query with their options.
func (k choices) filtersOf(query url.Values) filters {
	f := filters{
		Query: query.Get("q"), State: query.Get("status"), Value: query.Get("value"),
		States: frame.ChooseOption([]frame.Option{
			{Value: string(audience.OnlyMailable), Name: "Mailable"},
			{Value: string(audience.Unmailable), Name: "Not mailable"},
			{Value: string(audience.OnlyArchived), Name: "Archived"},
		}, query.Get("status")),
		Sets: []setFilter{k.Lists.filter("list", "List", query), k.Segments.filter("segment", "Segment", query)},
	}
	for _, t := range k.Topics {
		f.Topics = append(f.Topics, frame.Option{Value: t.Name, Name: "Gets " + t.title()}, frame.Option{Value: notSubscribed + t.Name, Name: "Does not get " + t.title()})
	}
	f.Topics = frame.ChooseOption(f.Topics, query.Get("topic"))
	for _, a := range k.Attributes {
		f.Attributes = append(f.Attributes, frame.Option{Value: a.Name, Name: frame.PlainName(a.Name)})
	}
	f.Attributes = frame.ChooseOption(f.Attributes, query.Get("attribute"))
	f.More = query.Get("segment") != "" || query.Get("attribute") != "" || query.Get("value") != ""
	f.Narrow = f.More || f.Query != "" || f.State != "" || query.Get("topic") != "" || query.Get("list") != ""
	return f
}

// filter returns the field with this name, with the value that the query has for it.
func (s sets) filter(name, label string, query url.Values) setFilter {
	f := setFilter{Name: name, Label: label, Typed: s.More, Value: query.Get(name)}
	for _, n := range s.All {
		if n.isNamed(f.Value) {
			f.Value = n.Key
		}
		f.Options = append(f.Options, frame.Option{Value: n.Key, Name: frame.PlainName(n.Name)})
	}
	f.Options = frame.ChooseOption(f.Options, f.Value)
	return f
}

// isIn reports whether the contact gets mail about the topic: by its own choice or by the
// topic's default, and without the global opt-out. explicit is true for a choice of its own.
func isIn(c audience.Contact, t topic) (in, explicit bool) { //nolint:nonamedreturns // says which
	wanted := t.Default
	for _, choice := range c.TopicPreferences {
		if choice.Topic == t.Name {
			wanted, explicit = choice.SubscriptionStatus, true
		}
	}
	return wanted == sending.OptIn && c.Mailable, explicit
}

// subscriptions returns the number of topics that the contact gets, such as "3 of 4". It
// returns "" if the topics are unknown.
func (k choices) subscriptions(c audience.Contact) string {
	if len(k.Topics) == 0 {
		return ""
	}
	n := 0
	for _, t := range k.Topics {
		if in, _ := isIn(c, t); in {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(k.Topics))
}
