package audience

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// topicForm is the data of the form that creates or changes a topic. A new topic needs a
// name, which never changes.
type topicForm struct {
	Form                     frame.Form
	Once                     string // "" in the form that changes a topic
	New                      bool
	Name, Label, Description string
	Defaults                 []frame.Option
	Back                     string
}

// defaultOptions returns the options for the default of a topic.
func defaultOptions(chosen sending.Subscription) []frame.Option {
	var options []frame.Option
	for _, d := range []sending.Subscription{sending.OptIn, sending.OptOut} {
		options = append(options, frame.Option{Value: string(d), Name: defaultWords[d], Chosen: d == chosen})
	}
	return options
}

// showNewTopic shows the form that creates a topic.
func (h topicHandlers) showNewTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if why := readOnly(v, "", ""); why != "" {
		h.Refuse(w, r, v, http.StatusConflict, "Topics are read-only here", why)
		return
	}
	h.newTopicForm(w, r, v, topicForm{Once: core.NewID(), Defaults: defaultOptions(sending.OptOut)}, "", http.StatusOK)
}

// newTopicForm writes the form that creates a topic.
func (h topicHandlers) newTopicForm(w http.ResponseWriter, r *http.Request, v people.Visitor, f topicForm, problem string, status int) {
	f.Form, f.New, f.Back = frame.FormTo(v, newTopicPath), true, TopicsPath
	head := frame.Head{Title: "Create topic", Lead: "The topic is created in the sending account. It subscribes no contact: contacts follow the default until they choose."}
	h.Show(w, r, v, status, frame.Screen{Page: "topic_form", Title: "Create topic", Head: head, Problem: problem, Data: f})
}

// typedTopic returns the values of a sent form.
func typedTopic(r *http.Request) topicForm {
	return topicForm{
		Name: r.PostForm.Get(fieldName), Label: r.PostForm.Get(fieldLabel), Description: r.PostForm.Get(fieldDescription),
		Defaults: defaultOptions(sending.Subscription(r.PostForm.Get(fieldDefault))),
	}
}

// createTopic creates a topic in the sending account and redirects to its page.
func (h topicHandlers) createTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	typed := typedTopic(r)
	typed.Once = once
	arguments := map[string]string{fieldName: typed.Name, fieldDefault: r.PostForm.Get(fieldDefault)}
	if typed.Label != "" {
		arguments[fieldLabel] = typed.Label
	}
	if typed.Description != "" {
		arguments[fieldDescription] = typed.Description
	}
	var made topic
	_, err := h.Do(r, v, frame.OperationCall{Operation: "topics_create", Arguments: arguments, Once: once}, &made)
	if err == nil {
		frame.RedirectWithNotice(w, made.path(), "created")
		return
	}
	if problem, status := labels.Correctable(err); problem != "" {
		h.newTopicForm(w, r, v, typed, problem, status)
		return
	}
	h.Fail(w, r, v, err)
}

// changeableTopic returns the topic that the path names. If it returns false, it has written
// an error: the topic does not exist, or a repository owns it.
func (h topicHandlers) changeableTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) (topic, bool) {
	t, ok := h.readTopic(w, r, v)
	if !ok {
		return topic{}, false
	}
	if why := readOnly(v, t.Origin, ""); why != "" {
		h.Refuse(w, r, v, http.StatusConflict, "This topic is read-only here", why)
		return topic{}, false
	}
	return t, true
}

// showEditTopic shows the form that changes a topic.
func (h topicHandlers) showEditTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if t, ok := h.changeableTopic(w, r, v); ok {
		h.editTopicForm(w, r, v, t, topicForm{Label: t.DisplayName, Description: t.Description, Defaults: defaultOptions(t.Default)}, "", http.StatusOK)
	}
}

// editTopicForm writes the form that changes a topic.
func (h topicHandlers) editTopicForm(w http.ResponseWriter, r *http.Request, v people.Visitor, t topic, f topicForm, problem string, status int) {
	f.Form, f.Name, f.Back = frame.FormTo(v, t.path()+"/edit"), t.Name, t.path()
	label := frame.PlainName(t.DisplayName)
	head := frame.Head{Title: "Edit topic", Parents: []frame.Link{{Path: t.path(), Name: label}}}
	h.Show(w, r, v, status, frame.Screen{Page: "topic_form", Title: "Edit " + label, Head: head, Problem: problem, Data: f})
}

// editTopic changes a topic in the sending account and redirects to its page.
func (h topicHandlers) editTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.changeableTopic(w, r, v)
	if !ok {
		return
	}
	typed := typedTopic(r)
	arguments := map[string]string{fieldName: t.Name, fieldDescription: typed.Description, fieldDefault: r.PostForm.Get(fieldDefault), fieldLabel: typed.Label}
	_, err := h.Do(r, v, frame.OperationCall{Operation: "topics_update", Arguments: arguments}, nil)
	if err == nil {
		frame.RedirectWithNotice(w, t.path(), "saved")
		return
	}
	if problem, status := labels.Correctable(err); problem != "" {
		h.editTopicForm(w, r, v, t, typed, problem, status)
		return
	}
	h.Fail(w, r, v, err)
}

// showDeleteTopic shows what the deletion of a topic does, with the form that deletes it.
func (h topicHandlers) showDeleteTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.changeableTopic(w, r, v)
	if !ok {
		return
	}
	hit, err := h.affectedBy(r, v, segments.Redefinition{GoneTopics: []string{t.Name}})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	label := frame.PlainName(t.DisplayName)
	head := frame.Head{Title: "Delete topic?", Parents: []frame.Link{{Path: t.path(), Name: label}}}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "topic_delete", Title: "Delete " + label + "?", Head: head, Data: deletion{
		Form: frame.FormTo(v, t.path()+"/delete"), Name: label, Back: t.path(), affected: hit,
	}})
}

// deleteTopic deletes a topic from the sending account and redirects to the page with all
// topics.
func (h topicHandlers) deleteTopic(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "topics_delete", Arguments: map[string]string{"name": r.PathValue("name")}}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, TopicsPath, "deleted")
}
