package demodata

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/templates"
)

// authorOperation is the operation that saves templates.
const authorOperation = "templates_author"

// writtenTemplate is a save of a template, some days ago.
type writtenTemplate struct {
	daysAgo                     int
	slug, subject, html, reason string
	testData                    map[string]any
}

// writtenTemplates are the saves of the demo's templates in the order of time. The harvest
// news have three versions and two sets of test data. The summer sale has warnings.
var writtenTemplates = []writtenTemplate{
	{16, "harvest-news", "The new harvest is here", harvestMail("The new harvest from Huila is in the shop.", ""), "First draft", map[string]any{
		"regular":   map[string]any{"first_name": "Ada", "city": "Gent", "coffees": []any{map[string]any{"name": "Huila", "price": "14 €"}, map[string]any{"name": "Sidama", "price": "16 €"}}},
		"wholesale": map[string]any{"first_name": "The Roastery", "city": "Lisboa", "wholesale": true, "coffees": []any{map[string]any{"name": "Huila, 5 kg", "price": "110 €"}}},
	}},
	{9, "harvest-news", "{{first_name}}, the new harvest is here", harvestMail("The new harvest from Huila is in the shop.", harvestCoffees), "List the coffees with their prices", nil},
	{5, "summer-sale", "SUMMER SALE: every coffee at half price, only this weekend", saleHTML, "", nil},
	{2, "harvest-news", "{{first_name}}, the new harvest is here", harvestMail("The new harvest from Huila is in the shop{{#if city}}, and on its way to {{city}}{{/if}}.", harvestPicture+harvestCoffees+harvestWholesale), "Name the city, and greet wholesale partners", nil},
}

// harvestMail returns a newsletter with an opening sentence and more content.
func harvestMail(opening, more string) string {
	return strings.NewReplacer("OPENING", opening, "MORE", more).Replace(`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>The new harvest</title>
  <style>
    body { margin: 0; font-family: Georgia, serif; line-height: 1.5; }
    .mail { max-width: 560px; margin: 0 auto; padding: 24px; }
    h1 { font-size: 26px; }
    td { padding: 6px 16px 6px 0; }
    .small { font-size: 14px; }
  </style>
</head>
<body>
  <div class="mail">
    <h1>Hello {{first_name}},</h1>
    <p>OPENING</p>
MORE    <p><a href="https://example.com/harvest">See all coffees</a></p>
    <p class="small">Fernhill Coffee, 1 Mill Lane. <a href="{{unsubscribe_url}}">Unsubscribe</a></p>
  </div>
</body>
</html>
`)
}

const harvestCoffees = `    <table role="presentation">
{{#each coffees}}
      <tr><td>{{name}}</td><td>{{price}}</td></tr>
{{else}}
      <tr><td>The list follows on Thursday.</td></tr>
{{/each}}
    </table>
`

const harvestPicture = `    <p><img src="{{asset "static/harvest.png"}}" width="560" height="180" style="max-width: 100%; height: auto" alt="Hills at sunrise, and coffee beans"></p>
`

const harvestWholesale = `{{#if wholesale}}
    <p>As a wholesale partner you can order until Friday noon.</p>
{{/if}}
`

// saleHTML is a mail with an image without a text (one brown pixel, because previews load
// nothing over the network), a link without https, text that is hard
// to read, and a misspelled variable.
const saleHTML = `<html>
<body style="background-color: #ffffff">
  <p>Hello {{frist_name}},</p>
  <p><img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mPo8tYCAAJiAQD+4F99AAAAAElFTkSuQmCC" width="560" height="140"></p>
  <p style="color: #c8c8c8">Half price on every coffee, from Friday to Sunday.</p>
  <p><a href="http://example.com/sale">To the sale</a></p>
  <p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>
</body>
</html>
`

// write saves the demo's templates through the operation, as the owner of the organization,
// and adds the saves to the audit log.
func (p Past) write(ctx context.Context, orgID string) error {
	org, err := p.DB.Orgs().OrgBySlug(ctx, Slug)
	if err != nil {
		return err
	}
	owner, err := p.DB.Users().UserByEmail(ctx, userEmail)
	if err != nil {
		return err
	}
	author := core.Principal{
		Org: org, UserID: owner.ID, Scopes: core.NewScopes(string(core.TemplatesManage)),
		Credential: core.Credential{Kind: core.Person, ID: owner.ID, Name: "dashboard", Environment: core.Live},
	}
	hashes := map[string]string{}
	for _, t := range writtenTemplates {
		c := &core.Call{Surface: core.Dashboard, Principal: author, Now: p.Clock().AddDate(0, 0, -t.daysAgo)}
		saved, err := p.save(ctx, c, t, hashes[t.slug])
		if err != nil {
			return fmt.Errorf("template %s: %w", t.slug, err)
		}
		hashes[t.slug] = saved.ContentHash
		if err := p.DB.Audit().AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: orgID, OccurredAt: c.Now.Truncate(time.Second), Action: authorOperation,
			ActorKind: string(core.Person), ActorID: owner.ID, Surface: core.Dashboard, RequestID: core.NewID(), Detail: "{}",
		}); err != nil {
			return err
		}
	}
	return nil
}

// save calls the operation. base is the hash of the content that the save replaces, "" for
// none.
func (p Past) save(ctx context.Context, c *core.Call, t writtenTemplate, base string) (templates.AuthoredTemplate, error) {
	in := templates.AuthorTemplateIn{Slug: t.slug, Subject: &t.subject, HTML: t.html, Message: t.reason, TestData: t.testData, Base: base}
	arguments, err := json.Marshal(in)
	if err != nil {
		return templates.AuthoredTemplate{}, err
	}
	for _, op := range p.Domains.Templates.Operations() {
		if op.Info().Name != authorOperation {
			continue
		}
		decoded, err := op.Decode(c.Surface, arguments)
		if err != nil {
			return templates.AuthoredTemplate{}, err
		}
		if decoded, err = op.Prepare(ctx, c, decoded); err != nil {
			return templates.AuthoredTemplate{}, err
		}
		out, err := op.Do(ctx, c, decoded)
		saved, _ := out.(templates.AuthoredTemplate)
		return saved, err
	}
	return templates.AuthoredTemplate{}, fmt.Errorf("there is no operation %s", authorOperation)
}
