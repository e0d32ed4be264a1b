package mixed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Installation is what the work needs to know about an installation.
type Installation struct {
	// APIs, MCPs are the URLs of the two API servers and of their agent endpoints, SMTPs the
	// addresses at which they receive mail. MCPHost is the host name of the agent endpoint.
	APIs, MCPs, SMTPs [2]string
	MCPHost           string
	// Key is an API key, Token an access token for the agent endpoint.
	Key, Token string
	// Org is the id of the organization, Database the URL of its database.
	Org, Database string
	// MailDomain is a verified receiving domain, whose webhook is Hook.
	MailDomain string
	Hook       *Hook
	// Account is the SMTP server of its sending account.
	Account *Account
}

// Config says how much is done.
type Config struct {
	Installation
	Journal *Journal
	Seed    uint64
	// Callers make Rate calls a second in all.
	Callers int
	Rate    float64
	// Keys is the number of contacts that are read and written.
	Keys int
	// Recipients is the number of recipients of each broadcast.
	Recipients int
	// Drain is how long the installation may take to finish everything after the last call.
	Drain time.Duration
}

// Work is a run of mixed work.
type Work struct {
	Config
	history *history

	mu sync.Mutex
	// numbered has the number of values, activities, runs, broadcasts and mails that were begun.
	numbered map[string]int
	// activities and runs are those whose calls succeeded, broadcasts the ids of those that were
	// sent, by number, and mails the attempts to deliver one.
	activities, runs map[int]bool
	broadcasts       map[int]string
	mails            []mail
}

// New returns a run. Prepare must be called next.
func New(c Config) *Work {
	return &Work{
		Config: c, history: newHistory(), numbered: map[string]int{},
		activities: map[int]bool{}, runs: map[int]bool{}, broadcasts: map[int]string{},
	}
}

// Registers returns the number of calls in the history that is checked for linearizability.
func (w *Work) Registers() int { return w.history.size() }

// number returns the next number of a kind, from 1.
func (w *Work) number(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.numbered[kind]++
	return w.numbered[kind]
}

// Prepare creates what the work uses: an attribute, contacts, recipients and a workflow.
func (w *Work) Prepare(ctx context.Context) {
	c := w.newCaller(-1)
	post := func(path, body string) {
		c.succeeds(ctx, request{method: http.MethodPost, path: path, body: body, key: c.newKey()}, http.StatusCreated, nil)
	}
	for _, name := range []string{"register", "stage", "done"} {
		post("/v1/attributes", `{"name":"`+name+`","type":"number"}`)
	}
	for _, key := range []string{"readers", "travellers"} {
		post("/v1/lists", `{"key":"`+key+`","name":"`+key+`"}`)
	}
	for i := range w.Recipients {
		c.succeeds(ctx, request{method: http.MethodPut, path: contactPath(fmt.Sprintf("reader%03d@example.org", i)), body: `{"lists":["readers"]}`, key: c.newKey()}, http.StatusCreated, nil)
	}
	for i := range w.Keys {
		c.write(ctx, keyOf(i), http.MethodPut, http.StatusCreated)
	}
	c.activateWorkflow(ctx)
}

// Run works until the context ends, and then completes the calls that were begun.
func (w *Work) Run(ctx context.Context) {
	finishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(w.Drain, cancel) })
	defer stop()
	var callers sync.WaitGroup
	for number := range w.Callers {
		callers.Go(func() { w.newCaller(number).run(ctx, finishing) })
	}
	callers.Wait()
}

// run makes calls at the rate of the caller until ctx ends. A call that was begun ends with finishing.
func (c *caller) run(ctx, finishing context.Context) {
	each := time.Duration(float64(time.Second) * float64(c.Callers) / c.Rate)
	for next := time.Now(); ctx.Err() == nil; {
		c.one(finishing)
		if next = next.Add(each); time.Until(next) > 0 {
			c.sleep(ctx, time.Until(next))
		} else {
			next = time.Now() // calls that took longer are not made up for
		}
	}
}

// one makes a call of a random kind.
func (c *caller) one(ctx context.Context) {
	key := keyOf(c.chance.IntN(c.Keys))
	switch p := c.chance.IntN(1000); {
	case p < 520:
		c.read(ctx, key)
	case p < 560:
		c.readWithTool(ctx, key)
	case p < 760:
		c.write(ctx, key, http.MethodPatch, http.StatusOK)
	case p < 850:
		c.write(ctx, key, http.MethodPut, http.StatusOK)
	case p < 890:
		c.writeWithTool(ctx, key)
	case p < 900:
		c.bulk(ctx)
	case p < 970:
		c.activity(ctx)
	case p < 980:
		c.enter(ctx)
	case p < 983:
		c.broadcast(ctx)
	default:
		c.mail(ctx)
	}
}

func keyOf(i int) string { return fmt.Sprintf("register%03d@example.org", i) }

func contactPath(email string) string { return "/v1/contacts/" + url.PathEscape(email) }

// contact is the part of a contact that is the register.
type contact struct{ Attributes struct{ Register int } }

// read reads a register. Only the last request counts, because the ones before had no answer.
func (c *caller) read(ctx context.Context, key string) {
	a, began, ok := c.definite(ctx, request{method: http.MethodGet, path: contactPath(key)})
	if !ok {
		return
	}
	var got contact
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK {
		c.Journal.fail("read of %s: %d %s", key, a.status, a.body)
		return
	}
	c.history.read(c.number, key, int64(began.Sub(c.history.began)), got.Attributes.Register)
}

func (c *caller) readWithTool(ctx context.Context, key string) {
	call := c.history.now()
	var got struct{ Contact contact }
	if c.tool(ctx, "contacts_lookup", fmt.Sprintf(`{"email":%q}`, key), &got) {
		c.history.read(c.number, key, call, got.Contact.Attributes.Register)
	}
}

func (c *caller) write(ctx context.Context, key, method string, want int) {
	value := c.Work.number("values")
	id := c.history.begin(c.number, access{key: key, write: true, value: value})
	r := request{method: method, path: contactPath(key), key: c.newKey(), body: fmt.Sprintf(`{"attributes":{"register":%d}}`, value)}
	if c.succeeds(ctx, r, want, nil) {
		c.history.end(id)
	}
}

func (c *caller) writeWithTool(ctx context.Context, key string) {
	value := c.Work.number("values")
	id := c.history.begin(c.number, access{key: key, write: true, value: value})
	if c.tool(ctx, "contacts_upsert", fmt.Sprintf(`{"email":%q,"attributes":{"register":%d}}`, key, value), nil) {
		c.history.end(id)
	}
}

// bulk writes a few registers in bulk. Each row takes effect between the call and the end of its job.
func (c *caller) bulk(ctx context.Context) {
	const rows = 4
	first := c.chance.IntN(c.Keys)
	body, ids := `{"contacts":[`, make([]int, rows)
	for i := range rows {
		key, value := keyOf((first+i)%c.Keys), c.Work.number("values")
		ids[i] = c.history.begin(c.number, access{key: key, write: true, value: value})
		if i > 0 {
			body += ","
		}
		body += fmt.Sprintf(`{"email":%q,"attributes":{"register":%d}}`, key, value)
	}
	var job struct {
		ID                string `json:"job_id"`
		Status            string
		Succeeded, Failed int
	}
	if !c.succeeds(ctx, request{method: http.MethodPost, path: "/v1/contacts/bulk", body: body + `]}`, key: c.newKey()}, http.StatusAccepted, &job) {
		return
	}
	for job.Status != "completed" {
		c.sleep(ctx, 300*time.Millisecond)
		if !c.succeeds(ctx, request{method: http.MethodGet, path: "/v1/contacts/bulk/" + job.ID}, http.StatusOK, &job) {
			return
		}
	}
	if job.Succeeded != rows || job.Failed != 0 {
		c.Journal.fail("the bulk write %s: %+v", job.ID, job)
		return
	}
	for _, id := range ids {
		c.history.end(id)
	}
}
