package load

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/dispatch"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var (
	mailedContacts  = flag.Int("load.recipients", 100_000, "how many recipients the benchmarks of broadcasts have")
	broadcastRounds = flag.Int("load.rounds", 3, "how often the benchmarks of broadcasts send")
)

// callsAtOnce is the number of messages that the bare loop passes at the same time, the same as
// a broadcast.
const callsAtOnce = 25

// BenchmarkBroadcast sends a broadcast to 100,000 contacts on each database: a newsletter of 12
// KB with eight variables and a loop. It compares the rate with that of a bare loop, which
// renders the same messages and passes them to the same account, without reading or recording
// anything. The accounts are the simulated one, whose own file limits the rate, and one that
// only accepts. A third one is as far away as the API of a provider. It reports the most memory of the heap in each half of the send.
func BenchmarkBroadcast(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			m := newMailshot(b, engine == "postgres")
			b.Run("simulator", func(b *testing.B) { m.compare(b, m.simulated(b)) })
			b.Run("accepting", func(b *testing.B) { m.compare(b, &accepting{}) })
			b.Run("distant", func(b *testing.B) { m.compare(b, &distant{}) })
		})
	}
}

// BenchmarkFreeze copies a list of a million contacts to the recipients of a broadcast.
func BenchmarkFreeze(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			*mailedContacts = *pagedContacts
			m := newMailshot(b, engine == "postgres")
			for b.Loop() {
				m.begin(b)
			}
		})
	}
}

// accepting is an account that accepts every message.
type accepting struct{ calls atomic.Int64 }

func (a *accepting) Send(context.Context, string, sending.Message) (string, error) {
	return fmt.Sprintf("0100019a-%d-000000", a.calls.Add(1)), nil
}

func (a *accepting) SendBulk(_ context.Context, _ string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	outcomes := make([]sending.BulkOutcome, len(b.Recipients))
	for i := range outcomes {
		outcomes[i].MessageID = fmt.Sprintf("0100019a-%d-000000", a.calls.Add(1))
	}
	return outcomes, nil
}

// distant is an account whose answers take 40 ms.
type distant struct{ accepting }

func (d *distant) Send(ctx context.Context, orgID string, m sending.Message) (string, error) {
	<-time.After(40 * time.Millisecond)
	return d.accepting.Send(ctx, orgID, m)
}

func (d *distant) SendBulk(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	<-time.After(40 * time.Millisecond)
	return d.accepting.SendBulk(ctx, orgID, b)
}

// mailshot is an organization with a list of contacts.
type mailshot struct {
	db        *storage.DB
	org, list string
	links     *unsubscribe.Links
	content   composition.Content
	members   []broadcasts.Member
}

func newMailshot(b *testing.B, postgres bool) *mailshot {
	b.Helper()
	m := &mailshot{org: core.NewID(), list: core.NewID(), content: newsletter()}
	if postgres {
		m.db = storagetest.Postgres(b)
	} else {
		m.db = storagetest.SQLite(b)
	}
	var err error
	m.links, err = unsubscribe.NewLinks(make([]byte, unsubscribe.KeyBytes), "https://app.example.com")
	must(b, err)
	must(b, m.db.Orgs().InsertOrg(b.Context(), core.Org{ID: m.org, Name: "Acme", Slug: "acme", Tier: "team", RetentionDays: 30}))
	m.addList(b)
	return m
}

// addList stores the list and its contacts.
func (m *mailshot) addList(b *testing.B) {
	b.Helper()
	now := core.SystemClock()
	must(b, m.db.Lists().InsertList(b.Context(), m.org, lists.List{ID: m.list, Key: "all", Name: "All", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now}))
	m.addContacts(b)
}

// addContacts stores the contacts and puts them on the list.
func (m *mailshot) addContacts(b *testing.B) {
	b.Helper()
	at := core.SystemClock()
	for from := 0; from < *mailedContacts; from += mirroredAtOnce {
		page := make([]sending.Contact, min(mirroredAtOnce, *mailedContacts-from))
		for i := range page {
			page[i].Email = fmt.Sprintf("person%07d@example.com", from+i)
		}
		_, _, err := m.db.Subscribers().MirrorConsent(b.Context(), m.org, page, at, at)
		must(b, err)
	}
	_, err := m.db.Writer().ExecContext(b.Context(), `UPDATE contacts SET attributes = $1 WHERE org_id = $2`, attributesOfAll, m.org)
	must(b, err)
	_, err = m.db.Writer().ExecContext(b.Context(), `INSERT INTO list_members (org_id, list_id, contact_id, added_at) SELECT org_id, $1, id, 0 FROM contacts WHERE org_id = $2 AND email LIKE 'person%'`, m.list, m.org)
	must(b, err)
	rows, err := m.db.Writer().QueryContext(b.Context(), `SELECT contact_id, email FROM list_members JOIN contacts ON contacts.id = contact_id WHERE list_id = $1`, m.list)
	must(b, err)
	defer rows.Close()
	for rows.Next() {
		member := broadcasts.Member{Attributes: json.RawMessage(attributesOfAll)}
		must(b, rows.Scan(&member.ContactID, &member.Email))
		m.members = append(m.members, member)
	}
	must(b, rows.Err())
}

// attributesOfAll are the attributes of each contact.
const attributesOfAll = `{"first_name":"Ada","last_name":"O'Neill","plan":"pro","city":"Springfield"}`

// newsletter returns content of 12 KB with eight variables and a loop.
func newsletter() composition.Content {
	row := `<tr><td style="padding:12px 24px;font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:20px;color:#333333;">` +
		"Each month we collect what we have learned from our readers, and what we are working on.</td></tr>\n"
	articles := make([]any, 4)
	for i := range articles {
		articles[i] = map[string]any{"url": fmt.Sprint("https://example.com/", i), "title": "Questions & answers"}
	}
	const rows = 50
	return composition.Content{
		Subject: "News for {{first_name}}", From: "Acme <news@acme.example>", Template: "acme--news",
		HTML: `<!DOCTYPE html><html lang="en"><head><title>News</title></head><body><table>` +
			"<tr><td><p>Hello {{first_name}} {{last_name}},</p><p>your plan is {{plan}}.</p></td></tr>\n" +
			`{{#each articles}}<tr><td><a href="{{url}}">{{title}}</a></td></tr>{{/each}}` + strings.Repeat(row, rows) +
			`<tr><td>{{company}}, {{address}}, {{city}} <a href="{{unsubscribe_url}}">Unsubscribe</a></td></tr></table></body></html>`,
		Data: map[string]any{"company": "Example & Sons", "address": "1 Main Street", "articles": articles},
	}
}

// simulated returns a simulated account without a limit of its rate, in a new file.
func (m *mailshot) simulated(b *testing.B) *simulator.Simulator {
	b.Helper()
	account, err := simulator.Open(filepath.Join(b.TempDir(), "account.db"), simulator.Options{CallTimeout: time.Minute})
	must(b, err)
	b.Cleanup(func() { _ = account.Close() }) // nothing reads the file
	must(b, account.Seed(b.Context(), m.org, simulator.Setup{
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1},
		Identities: []sending.Identity{{Identity: "acme.example", Verification: sending.Success}},
	}))
	return account
}

// compare alternates between the bare loop and the broadcast, and reports both rates.
func (m *mailshot) compare(b *testing.B, account handover.Sender) {
	b.Helper()
	for range b.N {
		var bare, ours []float64
		var memory [2]float64
		for range *broadcastRounds {
			bare = append(bare, float64(len(m.members))/m.loop(b, account).Seconds())
			took, most := m.broadcast(b, account)
			ours = append(ours, float64(len(m.members))/took.Seconds())
			for i := range most {
				memory[i] = max(memory[i], most[i])
			}
		}
		b.ReportMetric(median(bare), "bare/s")
		b.ReportMetric(median(ours), "recipients/s")
		b.ReportMetric(median(ratios(ours, bare)), "x-bare")
		b.ReportMetric(memory[0], "MB-first-half")
		b.ReportMetric(memory[1], "MB-second-half")
	}
}

// Links returns the links of a recipient; it is a [broadcasts.Links].
func (m *mailshot) Links(orgID, contactID, topic, sendID string) (composition.Links, error) {
	link, err := m.links.For(orgID, unsubscribe.Recipient{ContactID: contactID, SendID: sendID, Topic: topic})
	return composition.Links{Unsubscribe: link.Unsubscribe, Preferences: link.Preferences, Headers: []sending.Header{
		{Name: "List-Unsubscribe", Value: "<" + link.Unsubscribe + ">"}, {Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"},
	}}, err
}

// loop renders the message of each member and passes it to the account.
func (m *mailshot) loop(b *testing.B, account handover.Sender) time.Duration {
	b.Helper()
	mail, err := m.content.Compile()
	must(b, err)
	send := core.NewID()
	var next atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range callsAtOnce {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(m.members)); i = next.Add(1) - 1 {
				if err := m.pass(b.Context(), account, mail, send, m.members[i]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	return time.Since(began)
}

func (m *mailshot) pass(ctx context.Context, account handover.Sender, mail *composition.Mail, send string, to broadcasts.Member) error {
	var attributes map[string]any
	err := json.Unmarshal(to.Attributes, &attributes)
	if err != nil {
		return err
	}
	links, err := m.Links(m.org, to.ContactID, "", send)
	if err != nil {
		return err
	}
	message, err := mail.Message(composition.Recipient{Email: to.Email, Attributes: attributes, Links: links})
	if err != nil {
		return err
	}
	message.Tags = map[string]string{core.TemplateTag: m.content.Template, core.SendTag: send, core.RecipientTag: to.ContactID}
	_, err = account.Send(ctx, m.org, message)
	return err
}

// begin stores a broadcast that sends to the list, with its recipients.
func (m *mailshot) begin(b *testing.B) broadcasts.Broadcast {
	b.Helper()
	frozen, err := json.Marshal(m.content)
	must(b, err)
	now := core.SystemClock()
	of := broadcasts.Broadcast{
		ID: core.NewID(), Name: "News", Subject: "News", HTML: "News", Target: broadcasts.Target{AudienceKind: broadcasts.List, AudienceID: m.list}, State: broadcasts.Sending,
		Frozen: string(frozen), StartedAt: &now, CreatedAt: now, UpdatedAt: now, PacedAt: now, AudienceSize: mailedContacts,
	}
	must(b, m.db.InTx(b.Context(), func(ctx context.Context) error {
		if err := m.db.Broadcasts().Insert(ctx, m.org, of); err != nil {
			return err
		}
		size, err := m.db.Audiences().Freeze(ctx, m.org, of, now)
		if err == nil && size != *mailedContacts {
			err = fmt.Errorf("%d recipients, want %d", size, *mailedContacts)
		}
		return err
	}))
	return of
}

// broadcast sends a broadcast and returns how long that took, without the copy of the audience,
// and the most memory in each half.
func (m *mailshot) broadcast(b *testing.B, account handover.Sender) (time.Duration, [2]float64) {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	noWait := func(context.Context, time.Time) {}
	of := m.begin(b)
	d := dispatch.New(dispatch.Config{
		Sends: broadcasts.New(broadcasts.Config{
			Store: m.db.Broadcasts(), Audience: m.db.Audiences(), Outcomes: m.db.Outcomes(), Transactor: m.db, Links: m, Clock: core.SystemClock, Log: log,
		}),
		Store: m.db.Broadcasts(), Outcomes: m.db.Outcomes(), Transactor: m.db,
		Open: m.db.OpenBroadcasts(), Wait: noWait, Clock: core.SystemClock, Log: log,
		Steps: handover.New(handover.Config{
			Store: m.db.Handover(), Limits: m.db.HandoverLimits(), Transactor: m.db, Account: account, Process: "process", Wait: noWait, Clock: core.SystemClock, Log: log,
			Rate: func(context.Context, string) (float64, error) { return 0, nil },
		}),
	})
	watched := watchMemory()
	began := time.Now()
	must(b, d.Look(b.Context()))
	d.Join()
	took := time.Since(began)
	most := watched()
	ended, err := m.db.Broadcasts().Broadcast(b.Context(), m.org, of.ID)
	must(b, err)
	if ended.State != broadcasts.Sent || ended.Sent != *mailedContacts {
		b.Fatalf("%s after %v: %d sent, %d failed", ended.State, took, ended.Sent, ended.Failed)
	}
	must(b, m.db.Broadcasts().Delete(b.Context(), m.org, of.ID))
	return took, most
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
