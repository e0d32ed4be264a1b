package broadcasts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
)

// PreviewBroadcastIn names a broadcast, and for whom its message is rendered.
type PreviewBroadcastIn struct {
	WithID
	ContactID  string         `json:"contact_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Renders for this contact. Default: a member of the audience that gets the mail."`
	SampleData map[string]any `json:"sample_data,omitempty" only:"rest" jsonschema:"maxProperties=200" jsonschema_description:"Values that replace those of the broadcast in the sample. A contact's attributes win."`
}

// Previewed says where the values of a broadcast come from, and shows one message.
type Previewed struct {
	AudienceSize int                 `json:"audience_size"`
	Variables    []PreviewedVariable `json:"variables"`
	Sample       *Sample             `json:"sample" jsonschema:"nullable" jsonschema_description:"Null if the audience is empty and no contact was named."`
	Warnings     []string            `json:"warnings" voice:"ours"`
}

// PreviewedVariable counts the members of the audience by the source of a value.
type PreviewedVariable struct {
	Name        string `json:"name" voice:"untrusted"`
	ByAttribute int    `json:"by_attribute" jsonschema_description:"Members with a value of their own."`
	ByDefault   int    `json:"by_default" jsonschema_description:"Members that get the value of template_data."`
	Blank       int    `json:"blank" jsonschema_description:"Members that get nothing."`
}

// Sample is the message of one contact.
type Sample struct {
	ContactID   string `json:"contact_id" jsonschema:"format=uuid"`
	Email       string `json:"email" voice:"untrusted"`
	Subject     string `json:"subject" voice:"untrusted"`
	PreviewText string `json:"preview_text" voice:"untrusted"`
	HTML        string `json:"html" voice:"untrusted" jsonschema_description:"For agents at most 32 KB."`
	Text        string `json:"text" voice:"untrusted" jsonschema_description:"For agents at most 8 KB."`
}

// maxAgentHTML and maxAgentText are the numbers of bytes of a sample that agents get.
const (
	maxAgentHTML = 32 << 10
	maxAgentText = 8 << 10
)

func (b *Broadcasts) broadcastsPreview() core.Operation {
	return core.Declare(core.Op[PreviewBroadcastIn, Previewed]{
		Name:  "broadcasts_preview",
		Title: "Preview a broadcast",
		Purpose: "Counts for each variable how many of the audience have a value, and renders one message. " +
			"Use it before sending. Returns counts, a sample and warnings. It does not send.",
		Example: `{"id": "` + exampleID + `"}`, AgentExample: agentExample,
		Effect: core.Reads,
		Cost:   core.Heavy,
		Scopes: []core.Scope{core.BroadcastsView},
		Fails:  []core.Code{core.CodeNotFound},
		Do:     b.preview,
	})
}

func (b *Broadcasts) preview(ctx context.Context, c *core.Call, in PreviewBroadcastIn) (Previewed, error) {
	org := c.Principal.Org.ID
	found, err := b.Store.Broadcast(ctx, org, in.id())
	if err != nil {
		return Previewed{}, err
	}
	reach, err := b.Audience.Reach(ctx, org, found.Target, found.Topic)
	if err != nil {
		return Previewed{}, err
	}
	out := Previewed{AudienceSize: reach.Size, Variables: []PreviewedVariable{}}
	if out.Warnings, err = b.warnings(ctx, org, found, reach); err != nil {
		return Previewed{}, err
	}
	resolutions, err := b.resolve(ctx, org, found, reach.Size)
	if isRefusal(err) {
		return out, nil // a warning says so
	}
	if err != nil {
		return Previewed{}, err
	}
	for _, r := range resolutions {
		out.Variables = append(out.Variables, PreviewedVariable{r.Variable, r.ByAttribute, r.ByDefault, r.Blank})
	}
	out.Sample, err = b.sample(ctx, org, found, in)
	if err == nil && out.Sample != nil && c.Surface == core.Agent {
		out.Warnings = append(out.Warnings, out.Sample.cut()...)
	}
	return out, err
}

// resolve counts, for each variable of a broadcast, the members of its audience by the
// source of the value. size is the number of members.
func (b *Broadcasts) resolve(ctx context.Context, orgID string, of Broadcast, size int) ([]Resolution, error) {
	mail, err := b.mail(ctx, orgID, of)
	if err != nil {
		return nil, err
	}
	registry, err := b.Registry.AttributeNames(ctx, orgID)
	if err != nil {
		return nil, err
	}
	names := mail.Variables()
	var attributes []string
	for _, name := range names {
		if slices.Contains(registry, firstName(name)) && !slices.Contains(attributes, firstName(name)) {
			attributes = append(attributes, firstName(name))
		}
	}
	counts, err := b.Audience.WithAttribute(ctx, orgID, of.Target, attributes)
	if err != nil {
		return nil, err
	}
	resolutions := make([]Resolution, len(names))
	for i, name := range names {
		r := Resolution{Variable: name, ByAttribute: counts[firstName(name)]}
		if isGiven(of.Data, name) {
			r.ByDefault = size - r.ByAttribute
		} else {
			r.Blank = size - r.ByAttribute
		}
		resolutions[i] = r
	}
	return resolutions, nil
}

// firstName returns the first name of a path, such as order for order.number.
func firstName(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}

// isGiven reports whether data has a value for the path that prints something.
func isGiven(data map[string]any, path string) bool {
	var value any = data
	for name := range strings.SplitSeq(path, ".") {
		object, is := value.(map[string]any)
		if !is {
			return false
		}
		value = object[name]
	}
	return value != nil && value != ""
}

// sample renders the message for the named contact or for a member of the audience. It
// returns nil if there is no member.
func (b *Broadcasts) sample(ctx context.Context, orgID string, of Broadcast, in PreviewBroadcastIn) (*Sample, error) {
	ids := []string{in.ContactID}
	if in.ContactID == "" {
		var err error
		if ids, err = b.Audience.Samples(ctx, orgID, of.Target, of.Topic, 1); err != nil || len(ids) == 0 {
			return nil, err
		}
	}
	members, err := b.Audience.Members(ctx, orgID, of.Topic, ids)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, core.NotFound("contact")
	}
	return b.render(ctx, orgID, of, members[0], in.SampleData)
}

// render returns the message to a member. sample has values that replace those of the
// broadcast.
func (b *Broadcasts) render(ctx context.Context, orgID string, of Broadcast, m Member, sample map[string]any) (*Sample, error) {
	content, err := b.content(ctx, orgID, of)
	if err != nil {
		return nil, err
	}
	content.Data = overlay(content.Data, sample)
	mail, err := content.Compile()
	if err != nil {
		return nil, err
	}
	to, err := b.testRecipientOf(orgID, of, m)
	if err != nil {
		return nil, err
	}
	return sampleOf(mail, to, m)
}

// sampleOf renders the message to a recipient.
func sampleOf(mail *composition.Mail, to composition.Recipient, m Member) (*Sample, error) {
	rendered, _, err := mail.Preview(to)
	if err != nil {
		return nil, err
	}
	text, err := mail.PreviewText(to)
	return &Sample{
		ContactID: m.ContactID, Email: m.Email, Subject: rendered.Subject, PreviewText: text, HTML: rendered.HTML, Text: rendered.Text,
	}, err
}

// overlay returns the data with the values of over in their places.
func overlay(data, over map[string]any) map[string]any {
	joined := maps.Clone(data)
	if joined == nil {
		joined = map[string]any{}
	}
	maps.Copy(joined, over)
	return joined
}

// cut shortens the sample for agents, and says what it cut.
func (s *Sample) cut() []string {
	var cut []string
	shorten := func(part string, text *string, limit int) {
		if len(*text) <= limit {
			return
		}
		cut = append(cut, fmt.Sprintf("The sample's %s is cut: it has %d bytes, of which %d are shown.", part, len(*text), limit))
		for limit > 0 && !utf8.RuneStart((*text)[limit]) {
			limit--
		}
		*text = (*text)[:limit]
	}
	shorten("html", &s.HTML, maxAgentHTML)
	shorten("text", &s.Text, maxAgentText)
	return cut
}
