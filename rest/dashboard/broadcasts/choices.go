package broadcasts

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// choices are what the form offers.
type choices struct {
	Lists, Segments []frame.Option
	Topics          []topicChoice
	Templates       []templateChoice
	// MayFind is true if the visitor may see templates. Otherwise the form asks for a slug.
	MayFind bool
	// Senders are suggestions for the sender. Verified are the verified domains and addresses.
	Senders, Verified []string
	// Missing are the permissions that the visitor would need to see lists and segments.
	Missing []string
}

// topicChoice is a topic with what it means for recipients.
type topicChoice struct {
	Name, Title, Description string
	Chosen                   bool
}

// templateChoice is a found template.
type templateChoice struct {
	Slug, Name, Subject, Path string
	Chosen                    bool
}

// shownTemplates is the number of templates that the form offers at a time.
const shownTemplates = 8

// maxQuery is the maximum length of a text to search for, in bytes.
const maxQuery = 100

// queryOf returns a text to search for, cut to maxQuery.
func queryOf(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxQuery)], "")
}

// choices reads what the form offers for the chosen values.
func (h composePages) choices(r *http.Request, v people.Visitor, f fields) (choices, error) {
	var c choices
	var err error
	if c.Lists, err = h.audienceOptions(r, v, "lists_list", broadcasts.List, members.MayViewLists, &c.Missing); err != nil {
		return c, err
	}
	if c.Segments, err = h.audienceOptions(r, v, "segments_list", broadcasts.Segment, members.MayViewSegments, &c.Missing); err != nil {
		return c, err
	}
	chooseAudience(&c, f.Audience)
	if c.Topics, err = h.topicChoices(r.Context(), v, f.Topic); err != nil {
		return c, err
	}
	if c.MayFind = v.Member.Has(members.MayViewContent); c.MayFind {
		if c.Templates, err = h.templateChoices(r.Context(), v, f); err != nil {
			return c, err
		}
	}
	return c, h.addSenders(r, v, &c)
}

// audienceOptions returns the active lists or segments. missing gets the permission that the
// visitor lacks for them.
func (h composePages) audienceOptions(r *http.Request, v people.Visitor, operation string, kind broadcasts.AudienceKind, needs members.Permission, missing *[]string) ([]frame.Option, error) {
	if !v.Member.Has(needs) {
		*missing = append(*missing, string(needs))
		return nil, nil
	}
	type record struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Status  string `json:"status"`
		Members int    `json:"member_count"`
	}
	all, err := frame.ReadAll[record](h.Frame, r, v, operation)
	var options []frame.Option
	for _, one := range all {
		if one.Status != "archived" {
			options = append(options, frame.Option{Value: string(kind) + ":" + one.ID, Name: frame.PlainName(one.Name) + " (" + count(one.Members) + ")"})
		}
	}
	return options, err
}

// chooseAudience marks the chosen list or segment. One that the form does not offer stays
// chosen, so that an edit by a person who may not see it does not change it.
func chooseAudience(c *choices, chosen string) {
	known := chosen == ""
	for _, options := range [][]frame.Option{c.Lists, c.Segments} {
		for i := range options {
			if options[i].Value == chosen {
				options[i].Chosen, known = true, true
			}
		}
	}
	if !known {
		c.Lists = append(c.Lists, frame.Option{Value: chosen, Name: "The present audience", Chosen: true})
	}
}

// topicChoices returns the active topics with their meaning.
func (h composePages) topicChoices(ctx context.Context, v people.Visitor, chosen string) ([]topicChoice, error) {
	all, err := h.Topics.Topics(ctx, v.Org.ID)
	var found []topicChoice
	for _, t := range all {
		if t.Status != "active" && t.Name != chosen {
			continue
		}
		choice := topicChoice{Name: t.Name, Title: frame.PlainName(t.DisplayName), Description: frame.PlainName(t.Description), Chosen: t.Name == chosen}
		if choice.Title == "" {
			choice.Title = frame.PlainName(t.Name)
		}
		found = append(found, choice)
	}
	return found, err
}

// templateChoices returns the chosen template, and those that match the search. Without a
// search these are the newest.
func (h composePages) templateChoices(ctx context.Context, v people.Visitor, f fields) ([]templateChoice, error) {
	found, err := h.Templates.Search(ctx, v.Org.ID, queryOf(f.Find), "", shownTemplates)
	if err != nil {
		return nil, err
	}
	var shown []templateChoice
	chosen := f.Template == ""
	for _, t := range found.Items {
		shown = append(shown, templateChoice{
			Slug: t.Slug, Name: frame.PlainName(t.Name), Subject: frame.PlainName(t.Subject), Path: templatesPath + "/" + url.PathEscape(t.Slug), Chosen: t.Slug == f.Template,
		})
		chosen = chosen || t.Slug == f.Template
	}
	if !chosen {
		own := templateChoice{Slug: f.Template, Name: frame.PlainName(f.Template), Path: templatesPath + "/" + url.PathEscape(f.Template), Chosen: true}
		shown = append([]templateChoice{own}, shown...)
	}
	return shown, nil
}

// addSenders adds the verified identities, and addresses of them to choose from.
func (h composePages) addSenders(r *http.Request, v people.Visitor, c *choices) error {
	if !v.Member.Has(members.MayViewSending) {
		return nil
	}
	type identity struct {
		Identity     string `json:"identity"`
		Type         string `json:"type"`
		Verification string `json:"verification_status"`
	}
	all, err := frame.ReadAll[identity](h.Frame, r, v, "identities_list")
	for _, i := range all {
		if i.Verification != string(sending.Success) {
			continue
		}
		name := frame.PlainName(i.Identity)
		c.Verified = append(c.Verified, name)
		if strings.Contains(name, "@") {
			c.Senders = append(c.Senders, name)
			continue
		}
		for _, local := range []string{"news@", "hello@", "no-reply@"} {
			c.Senders = append(c.Senders, local+name)
		}
	}
	return err
}

// reach says who of an audience would get the message. The zero reach stands for no
// audience.
type reach struct {
	Known                              bool
	Size, Mailable, ByAccount, ByTopic string
	None                               bool   // no member would get it
	Warning                            string // why the members may not be up to date, "" for no reason
}

// reachOf counts the members of an audience by what happens to them.
func (h *Room) reachOf(r *http.Request, v people.Visitor, t broadcasts.Target, topic string) (reach, error) {
	audience, err := h.Audiences.Audience(r.Context(), v.Org.ID, t.AudienceKind, t.AudienceID)
	if core.IsNotFound(err) {
		return reach{Warning: "The " + audienceWords[t.AudienceKind] + " was deleted or archived. Choose another audience."}, nil
	}
	if err != nil {
		return reach{}, err
	}
	counted, err := frame.ReadExpensive(h.Frame, r, v, func(ctx context.Context) (broadcasts.Reach, error) {
		return h.Audience.Reach(ctx, v.Org.ID, t, topic)
	})
	return reach{
		Known: true, Size: count(counted.Size), Mailable: count(counted.Mailable), ByAccount: count(counted.ByAccount), ByTopic: count(counted.ByTopic),
		None: counted.Mailable == 0, Warning: audience.Warning,
	}, err
}

// reachOfFields counts the chosen audience. before is the stored broadcast, nil for a new
// one: a part of its audience stays a part.
func (h composePages) reachOfFields(r *http.Request, v people.Visitor, f fields, before *broadcasts.Broadcast) (reach, error) {
	t, ok := f.target()
	if !ok {
		return reach{}, nil
	}
	if before != nil && before.AudienceID == t.AudienceID {
		t.Share = before.Share
	}
	return h.reachOf(r, v, t, f.Topic)
}
