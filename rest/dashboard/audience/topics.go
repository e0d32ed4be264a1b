package audience

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// TopicsPath is the path of the page with all topics. Pages of single topics are below it.
const TopicsPath = frame.Path + "/topics"

// newTopicPath is the path of the form for a new topic.
const newTopicPath = TopicsPath + "/new"

// topicNotices are the messages that the pages of topics show after a change.
var topicNotices = frame.Notices{
	"created": "The topic was created in the sending account.",
	"saved":   "The topic was changed in the sending account.",
	"deleted": "The topic was deleted from the sending account.",
}

// topic has the members of a topic in REST that the pages show.
type topic struct {
	Name, Description, Origin string
	DisplayName               string               `json:"display_name"`
	Default                   sending.Subscription `json:"default_subscription_status"`
	CreatedAt                 time.Time            `json:"created_at"`
	UpdatedAt                 time.Time            `json:"updated_at"`
}

func (t topic) path() string { return TopicsPath + "/by-name/" + t.Name }

// contactList has the members of contact_list_get that the pages show.
type contactList struct {
	Name         string
	ContactCount int64 `json:"contact_count"`
	Topics       []topic
	LastSyncedAt time.Time `json:"last_synced_at"`
}

// defaultWords are the texts for the default of a topic.
var defaultWords = map[sending.Subscription]string{
	sending.OptIn: "Subscribed until they opt out", sending.OptOut: "Not subscribed until they opt in",
}

// topicRow is the data of one topic.
type topicRow struct {
	Path, Name, Label, Description, Default, Origin string
	Git                                             bool
	Created, Updated                                frame.When
}

// topicsPage is the data of the page with all topics. Synced is false before the first sync
// with the sending account.
type topicsPage struct {
	Rows     []topicRow
	Empty    frame.Empty
	Synced   bool
	List     string // the name of the sending account's contact list
	Contacts string
	LastSync frame.When
}

func (h topicHandlers) newTopicRow(t topic) topicRow {
	return topicRow{
		Path: t.path(), Name: t.Name, Label: frame.PlainName(t.DisplayName), Description: frame.PlainName(t.Description), Default: defaultWords[t.Default],
		Origin: originWords[t.Origin], Git: t.Origin == gitOrigin, Created: h.When(t.CreatedAt), Updated: h.When(t.UpdatedAt),
	}
}

// showTopics shows the topics of the sending account, and when the last sync compared them
// with Mailhelm. If the account does not answer, it shows the topics of the last sync with
// the error.
func (h topicHandlers) showTopics(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var data topicsPage
	var stored contactList
	err := h.Read(r, v, "contact_list_get", nil, &stored)
	if err != nil && core.AsError(err).Code != core.CodeContactListNotSynced {
		h.Fail(w, r, v, err)
		return
	}
	if data.Synced = err == nil; data.Synced {
		data.List, data.Contacts, data.LastSync = frame.PlainName(stored.Name), core.WithCommas(stored.ContactCount), h.When(stored.LastSyncedAt)
	}
	all, err := h.readTopics(r, v)
	problem := ""
	if err != nil {
		if problem, _ = labels.Correctable(err); problem == "" {
			h.Fail(w, r, v, err)
			return
		}
		problem, all = "The topics are those of the last sync, because the sending account did not answer. "+problem, stored.Topics
	}
	for _, t := range all {
		data.Rows = append(data.Rows, h.newTopicRow(t))
	}
	head := frame.Head{Title: "Topics", Count: core.WithCommas(len(all)), Lead: "Contacts subscribe to topics. The sending account stores the topics and the choices of contacts."}
	data.Empty = frame.Empty{Text: "A topic lets contacts choose which mail they get, for example news or offers. The sending account has none yet."}
	if why := readOnly(v, "", ""); why != "" {
		head.Lead += " " + why
	} else if v.Member.Has(members.MayManageContacts) {
		create := frame.Action{Path: newTopicPath, Name: "Create topic", Primary: true}
		head.Actions, data.Empty.Action = []frame.Action{create}, &create
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "topics", Title: "Topics", Head: head, Notice: topicNotices.NoticeOf(r), Problem: problem, Data: data})
}

// readTopics returns the topics of the sending account, at most a minute old.
func (h topicHandlers) readTopics(r *http.Request, v people.Visitor) ([]topic, error) {
	var found struct{ Data []topic }
	err := h.Read(r, v, "topics_list", nil, &found)
	return found.Data, err
}

// readTopic returns the topic that the path names. If it returns false, it has written an
// error.
func (h topicHandlers) readTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) (topic, bool) {
	all, err := h.readTopics(r, v)
	if err != nil {
		h.Fail(w, r, v, err)
		return topic{}, false
	}
	for _, t := range all {
		if t.Name == r.PathValue("name") {
			return t, true
		}
	}
	h.NoSuchPage(w, r, v)
	return topic{}, false
}

// topicPage is the data of the page of one topic.
type topicPage struct {
	topicRow
	ReadOnly string // why the topic cannot be changed here, "" if it can
}

// showTopic shows one topic.
func (h topicHandlers) showTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.readTopic(w, r, v)
	if !ok {
		return
	}
	data := topicPage{topicRow: h.newTopicRow(t), ReadOnly: readOnly(v, t.Origin, "")}
	contacts := frame.Action{Path: frame.Address(frame.Path+"/contacts", frame.Parameters{"topic": t.Name}), Name: "View contacts"}
	head := frame.Head{Title: data.Label, Lead: data.Description, Actions: []frame.Action{contacts}}
	if v.Member.Has(members.MayManageContacts) && data.ReadOnly == "" {
		head.Actions = append(head.Actions, frame.Action{Path: t.path() + "/edit", Name: "Edit topic"}, frame.Action{Path: t.path() + "/delete", Name: "Delete topic", Danger: true})
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "topic", Title: data.Label, Head: head, Notice: topicNotices.NoticeOf(r), Data: data})
}
