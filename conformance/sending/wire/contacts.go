package wire

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core/sending"
)

// maxTopics is the maximum number of topics on a contact list of Amazon SES. The simulator
// allows more.
const maxTopics = 20

// topic is a topic of a contact list in requests and responses.
type topic struct {
	TopicName, DisplayName, Description string
	DefaultSubscriptionStatus           sending.Subscription
}

// preference is a contact's choice about one topic.
type preference struct {
	TopicName          string
	SubscriptionStatus sending.Subscription
}

// contact is the body of CreateContact and UpdateContact.
type contact struct {
	EmailAddress     string
	AttributesData   string
	UnsubscribeAll   bool
	TopicPreferences []preference
}

// choices returns the choices, keyed by topic. If there are two choices about a topic, the
// later one counts.
func (c contact) choices() map[string]sending.Subscription {
	choices := make(map[string]sending.Subscription, len(c.TopicPreferences))
	for _, p := range c.TopicPreferences {
		choices[p.TopicName] = p.SubscriptionStatus
	}
	return choices
}

// list returns the account's contact list. It fails with NotFoundException if the path
// names another list.
func (w *wire) list(r *http.Request) (sending.ContactList, error) {
	list, err := w.account.ContactList(r.Context(), w.org)
	if err == nil && list.Name != r.PathValue("list") {
		err = notFound("There is no such contact list.")
	}
	return list, err
}

// listContactLists serves ListContactLists. It returns the account's only contact list, or
// none.
func (w *wire) listContactLists(r *http.Request) (any, error) {
	list, err := w.account.ContactList(r.Context(), w.org)
	if sending.IsNotFound(err) {
		return object{"ContactLists": []object{}}, nil
	}
	return object{"ContactLists": []object{{"ContactListName": list.Name, "LastUpdatedTimestamp": seconds(list.UpdatedAt)}}}, err
}

// getContactList serves GetContactList. CreatedTimestamp is the time of the last change,
// because the simulator stores no creation time.
func (w *wire) getContactList(r *http.Request) (any, error) {
	list, err := w.list(r)
	if err != nil {
		return nil, err
	}
	topics := make([]topic, len(list.Topics))
	for i, t := range list.Topics {
		topics[i] = topic{t.Name, t.DisplayName, t.Description, t.Default}
	}
	return object{
		"ContactListName": list.Name, "Description": list.Description, "Topics": topics,
		"CreatedTimestamp": seconds(list.UpdatedAt), "LastUpdatedTimestamp": seconds(list.UpdatedAt),
	}, nil
}

// createContactList serves CreateContactList. An account has at most one list. The
// simulator chooses its name.
func (w *wire) createContactList(r *http.Request) (any, error) {
	in, err := read[struct {
		ContactListName string
		Topics          []topic
	}](r)
	if err != nil {
		return nil, err
	}
	if in.ContactListName != sending.DefaultContactList || len(in.Topics) > 0 {
		return nil, badRequest("Only an empty contact list of the default name is imitated.")
	}
	list, err := w.account.ContactList(r.Context(), w.org)
	switch {
	case err == nil && list.Name == in.ContactListName:
		return nil, alreadyExists("The contact list exists already.")
	case err == nil:
		return nil, badRequest("The account has its one contact list already.")
	case !sending.IsNotFound(err):
		return nil, err
	}
	return object{}, w.account.EnsureContactList(r.Context(), w.org)
}

// updateContactList serves UpdateContactList, which replaces the description and all
// topics. It fails with BadRequestException for more than maxTopics topics.
func (w *wire) updateContactList(r *http.Request) (any, error) {
	in, err := read[struct {
		Description string
		Topics      []topic
	}](r)
	if err == nil {
		_, err = w.list(r)
	}
	if err != nil {
		return nil, err
	}
	if len(in.Topics) > maxTopics {
		return nil, badRequest("A contact list has at most 20 topics.")
	}
	topics := make([]sending.Topic, len(in.Topics))
	for i, t := range in.Topics {
		topics[i] = sending.Topic{Name: t.TopicName, DisplayName: t.DisplayName, Description: t.Description, Default: t.DefaultSubscriptionStatus}
	}
	return object{}, w.account.PutContactList(r.Context(), w.org, in.Description, topics)
}

// listContacts serves ListContacts. A request with a filter fails with BadRequestException.
func (w *wire) listContacts(r *http.Request) (any, error) {
	l, err := readListing(r)
	if err != nil {
		return nil, err
	}
	if len(l.Filter) > 0 {
		return nil, badRequest("Filters of contacts are not imitated.")
	}
	list, err := w.list(r)
	if err != nil {
		return nil, err
	}
	page, next, err := w.account.WithPageSize(l.PageSize).Contacts(r.Context(), w.org, l.NextToken)
	contacts := make([]object, len(page))
	for i, c := range page {
		contacts[i] = contactObject(c, list.Topics)
	}
	return withNext(object{"Contacts": contacts}, next), err
}

// contactObject returns the JSON of a contact: its explicit choices sorted by topic, and
// the default choices of all other topics.
func contactObject(c sending.Contact, topics []sending.Topic) object {
	explicit := []preference{}
	for _, name := range slices.Sorted(maps.Keys(c.Preferences)) {
		explicit = append(explicit, preference{name, c.Preferences[name]})
	}
	defaults := []preference{}
	for _, t := range topics {
		if _, chosen := c.Preferences[t.Name]; !chosen {
			defaults = append(defaults, preference{t.Name, t.Default})
		}
	}
	return object{
		"EmailAddress": c.Email, "UnsubscribeAll": c.UnsubscribeAll, "LastUpdatedTimestamp": seconds(c.UpdatedAt),
		"TopicPreferences": explicit, "TopicDefaultPreferences": defaults,
	}
}

// getContact serves GetContact. AttributesData is omitted if the contact has none.
func (w *wire) getContact(r *http.Request) (any, error) {
	list, err := w.list(r)
	if err != nil {
		return nil, err
	}
	c, err := w.account.Contact(r.Context(), w.org, r.PathValue("email"))
	if err != nil {
		return nil, err
	}
	attributes, err := w.account.Attributes(r.Context(), w.org, c.Email)
	if err != nil {
		return nil, err
	}
	answer := contactObject(c, list.Topics)
	if attributes != "" {
		answer["AttributesData"] = attributes
	}
	answer["ContactListName"], answer["CreatedTimestamp"] = list.Name, seconds(c.UpdatedAt)
	return answer, nil
}

// contactExists reports whether an address is on the contact list.
func (w *wire) contactExists(ctx context.Context, email string) (bool, error) {
	_, err := w.account.Contact(ctx, w.org, email)
	if sending.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// createContact serves CreateContact. It fails with AlreadyExistsException if the address
// is on the list. Two concurrent requests for the same address may both succeed.
func (w *wire) createContact(r *http.Request) (any, error) {
	in, err := read[contact](r)
	if err == nil {
		_, err = w.list(r)
	}
	if err != nil {
		return nil, err
	}
	if exists, err := w.contactExists(r.Context(), in.EmailAddress); err != nil {
		return nil, err
	} else if exists {
		return nil, alreadyExists("The contact is on the list already.")
	}
	return object{}, w.put(r.Context(), in)
}

// put replaces a contact with its consent and attributes. Attributes that the request omits
// are deleted.
func (w *wire) put(ctx context.Context, in contact) error {
	err := w.account.PutContact(ctx, w.org, sending.Contact{
		Email: in.EmailAddress, UnsubscribeAll: in.UnsubscribeAll, Preferences: in.choices(),
	})
	if err != nil {
		return err
	}
	return w.account.PutAttributes(ctx, w.org, in.EmailAddress, in.AttributesData)
}

// updateContact serves UpdateContact for the address in the path. It ignores the address in
// the body.
func (w *wire) updateContact(r *http.Request) (any, error) {
	in, err := read[contact](r)
	if err != nil {
		return nil, err
	}
	if err := w.requireContact(r); err != nil {
		return nil, err
	}
	in.EmailAddress = r.PathValue("email")
	return object{}, w.put(r.Context(), in)
}

// deleteContact serves the operation DeleteContact of the SES API. It fails with
// NotFoundException if the address is not on the list; the simulator would succeed.
func (w *wire) deleteContact(r *http.Request) (any, error) {
	if err := w.requireContact(r); err != nil {
		return nil, err
	}
	return object{}, w.account.DeleteContact(r.Context(), w.org, r.PathValue("email"))
}

// requireContact fails with NotFoundException if the contact list or the contact in the
// path does not exist.
func (w *wire) requireContact(r *http.Request) error {
	if _, err := w.list(r); err != nil {
		return err
	}
	exists, err := w.contactExists(r.Context(), r.PathValue("email"))
	if err == nil && !exists {
		err = notFound("The contact is not on the list.")
	}
	return err
}
