package readme

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// promised has one entry for each command block in the README's section "Try it": a text
// that the output of the block must contain.
var promised = []string{
	"",                                   // stores the credentials in variables
	"",                                   // stores the access token in a variable
	`"name":"contacts_upsert"`,           // lists the tools
	`"first_name":"Ada"`,                 // reads a contact by a tool
	`"first_name":"Ada"`,                 // output of the block that reads the same contact by a route
	`"email":"new.customer@example.com"`, // creates a contact
	`"code":"validation_failed"`,         // is refused
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the text of the README below the given second-level heading. It fails the
// test if there is no such heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page(t), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("the README has no section %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// TestSections runs the commands of the README's sections, in their order, against one
// demo, as a reader does.
func TestSections(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	d := startDemo(t, "SSL_CERT_FILE="+hook.certificate)
	for _, s := range []struct {
		heading string
		check   func(*demo, *testing.T)
	}{
		{"Try it", (*demo).checkPrintedCommands},
		{"Try it", (*demo).checkCommands},
		{"Contacts", (*demo).checkContacts},
		{"Broadcasts", (*demo).checkBroadcasts},
		{"Workflows", (*demo).checkWorkflows},
		{"Workflow files", (*demo).checkWorkflowFiles},
		{"Workflow files", (*demo).checkDefinitions},
		{"Sending", (*demo).checkSending},
		{"Receiving", (*demo).checkReceiving},
		{"Receiving", func(d *demo, t *testing.T) { t.Helper(); d.checkReceivingGuide(t, hook) }},
		{"Receiving", (*demo).checkReports},
		{"People, keys and clients", (*demo).checkAdministration},
	} {
		t.Run(s.heading, func(t *testing.T) { s.check(d, t) })
	}
}

// checkCommands runs the commands in the README's section "Try it", with the stand-in for
// curl and, if it is installed, with curl.
func (d *demo) checkCommands(t *testing.T) {
	t.Helper()
	commands := Blocks(section(t, "Try it"), "sh")
	if len(commands) != len(promised) {
		t.Fatalf("the README has %d commands, %d are promised something", len(commands), len(promised))
	}
	for name, path := range shellPaths(t) {
		t.Run(name, func(t *testing.T) {
			for i, output := range d.paste(t, path, commands) {
				if got := strings.ReplaceAll(output, `": "`, `":"`); !strings.Contains(got, promised[i]) {
					t.Errorf("the output lacks %s:\n%s\n%s", promised[i], commands[i], output)
				}
			}
		})
	}
}

// takenIn has one entry for each command block in the README's section "Contacts": the
// texts that the output of the block must contain.
var takenIn = [][]string{
	{`"key":"spring-tasting"`},
	{`"job_id"`, `"total":2`, `"pagination"`},
	{"dry run       nothing was changed", "created       1", "rejected      1 (line 3)", "people.csv.rejected.csv", "nobody,,,3,validation_failed: email is not an email address"},
}

// sent has one entry for each command block in the README's section "Sending": the texts
// that the output of the block must contain. The newest bounce is one of the demo's mail or
// of the broadcast that the section "Broadcasts" has sent, so its outcome is "bounced" or
// "not_sent".
var sent = [][]string{
	{`"delivery_rate"`, `"period"`},
	{`"status":"Bounce"`, `"diagnosis":"`, `"next_steps"`},
	{"--topic-arn", "--role-arn", "new           1", "malformed     0"},
}

// checkContacts runs the commands in the README's section "Contacts", after the two blocks
// of "Try it" that set the variables. The section must link to the guide about contacts,
// and the demo must serve that page.
func (d *demo) checkContacts(t *testing.T) {
	t.Helper()
	d.checkNextSteps(t, "Contacts", takenIn, "http://localhost:8081/docs/guides/contacts")
}

// sentBroadcast has one entry for each command block in the README's section "Broadcasts":
// the texts that the output of the block must contain.
var sentBroadcast = [][]string{
	{`"audience_size":96`, `"name":"first_name"`, `taste with us`},
	{`"status":"sending"`, `"state":"sending"`, `"audience_size":96`},
}

// checkBroadcasts runs the commands in the README's section "Broadcasts", and then those of
// the guide that it links to.
func (d *demo) checkBroadcasts(t *testing.T) {
	t.Helper()
	d.checkNextSteps(t, "Broadcasts", sentBroadcast, "http://localhost:8081/docs/guides/broadcasts")
	d.checkGuide(t, "broadcasts", [][]string{
		{"-"},
		{`"by_default":96`, `"blank":0`, "taste with us"},
		{`"status":"sent"`, `"total":1`},
		{`"status":"sending"`},
		{`"state":"sending"`, `"pagination"`},
		{`"confirmation_token"`, "of the 96 members of the list", "opted out of the topic"},
		{`"status":"sending"`},
	})
}

// checkGuide runs the commands of a guide as the demo serves it, after the two blocks of "Try
// it" that set the variables. promised has the texts that the output of each block must
// contain.
func (d *demo) checkGuide(t *testing.T, name string, promised [][]string) {
	t.Helper()
	commands := Blocks(d.guide(t, name), "shell")
	if len(commands) != len(promised) {
		t.Fatalf("the guide has %d blocks, %d are promised something", len(commands), len(promised))
	}
	before := Blocks(section(t, "Try it"), "sh")[:2]
	for i, output := range d.paste(t, programPath(t), append(before, commands...))[len(before):] {
		for _, part := range promised[i] {
			if got := strings.ReplaceAll(output, `\"`, `"`); !strings.Contains(got, part) {
				t.Errorf("the output lacks %s:\n%s\n%s", part, commands[i], output)
			}
		}
	}
}

// guide returns the Markdown of a guide as the demo serves it.
func (d *demo) guide(t *testing.T, name string) string {
	t.Helper()
	browser := http.Client{Timeout: patience}
	answer, err := browser.Get(OnPorts("http://localhost:8081/docs/guides/"+name+".md", d.port))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// programPath returns a PATH with the program and the stand-in for curl.
func programPath(t *testing.T) string {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(binary) + string(os.PathListSeparator) + shellPaths(t)["stand-in"]
}

// ranWorkflow has one entry for each command block in the README's section "Workflows": the
// texts that the output of the block must contain.
var ranWorkflow = [][]string{
	{`"email":"nina@example.com"`, `"status":"active"`, `"run_counts":`},
	{`"event_type":"enrolled"`, `"node_type":"wait_for"`},
}

// checkWorkflows runs the commands in the README's section "Workflows", and then those of the
// guide that it links to.
func (d *demo) checkWorkflows(t *testing.T) {
	t.Helper()
	d.checkNextSteps(t, "Workflows", ranWorkflow, "http://localhost:8081/docs/guides/workflows")
	d.checkGuide(t, "workflows", [][]string{
		{`"key":"welcome"`, `"key":"win-back"`, `"require_send_approval":true`},
		{`"event_type":"completed"`, `"node_type":"wait_for"`, `"sends":[{"node_path":"0","sent":`},
		{`"email":"mina@example.com"`},
		{`"status":"active"`, `"event_type":"wait_started"`},
		{`"status":"saved"`, `"can_be_activated":true`},
		{`"action":"would-send"`, `"effective_scope":"existing"`},
		{`"action":"would-send"`},
		{`"confirmation_token"`, "existing contacts enter at once", `It sends the templates "harvest-news", "brewing-guide".`, "Each message waits until a person approves it."},
		{`"require_send_approval":true`, `"key":"tasting"`},
	})
}

// inFiles has one entry for each command block in the README's section "Workflow files": the
// texts that the output of the block must contain.
var inFiles = [][]string{
	{"welcome.workflow\n", `welcome.workflow:9:8: there is no template "brewing-gide"; did you mean brewing-guide?`},
	{"corrected.workflow: valid\n", `Contacts enter when they come into the segment "good-customers".`, "2.then.0  Leave the workflow."},
}

// checkWorkflowFiles runs the commands in the README's section "Workflow files", and then
// those of the guide that it links to.
func (d *demo) checkWorkflowFiles(t *testing.T) {
	t.Helper()
	d.checkNextSteps(t, "Workflow files", inFiles, "http://localhost:8081/docs/guides/workflow-files")
	d.checkGuide(t, "workflow-files", [][]string{
		{"  enter on segment", "\n\n  send \"welcome\"", "    timeout:\n      send \"brewing-gide\""},
		{`welcome.workflow:9:12: there is no template "brewing-gide"; did you mean brewing-guide?`},
		{"corrected.workflow: valid\n"},
		{"for at most 1 week.", "    If the time is over first:\n      1.timeout.0  Send the template \"brewing-guide\""},
	})
}

// checkReports runs the commands in the guide about DMARC reports. Their output must be the one in
// the guide.
func (d *demo) checkReports(t *testing.T) {
	t.Helper()
	d.checkGuide(t, "dmarc-reports", [][]string{
		{Blocks(d.guide(t, "dmarc-reports"), "text")[0]},
		{"2 reports, 896 messages: 824 (91.9 %) passed, 72 (8.0 %) failed\n1 copy of a report left out\n", `{"reports":2,"tls_reports":0,"other_files":0,"copies":1,"messages":896,"passed":824,"failed":72,`},
		{"1 report imported, with 448 messages in 2 records\n", "0 reports imported, with 0 messages in 0 records\n1 report left out: known already\n"},
	})
}

// checkSending runs the commands in the README's section "Sending", after the two blocks of
// "Try it" that set the variables. The section must link to the guide about sending
// accounts, and the demo must serve that page.
func (d *demo) checkSending(t *testing.T) {
	t.Helper()
	d.checkNextSteps(t, "Sending", sent, "http://localhost:8081/docs/guides/sending-account")
}

func (d *demo) checkNextSteps(t *testing.T, heading string, promised [][]string, guide string) {
	t.Helper()
	before := Blocks(section(t, "Try it"), "sh")[:2] // the credentials and the token
	text := section(t, heading)
	blocks := Blocks(text, "sh")
	if len(blocks) != len(promised) {
		t.Fatalf("the section has %d blocks, %d are promised something", len(blocks), len(promised))
	}
	for i, output := range d.paste(t, programPath(t), append(before, blocks...))[2:] {
		for _, want := range promised[i] {
			if got := strings.ReplaceAll(output, `": "`, `":"`); !strings.Contains(got, want) {
				t.Errorf("the output lacks %s:\n%s\n%s", want, blocks[i], output)
			}
		}
	}
	if !strings.Contains(text, guide) {
		t.Errorf("the section does not name %s", guide)
	}
	browser := http.Client{Timeout: patience}
	answer, err := browser.Get(OnPorts(guide, d.port))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %d", guide, answer.StatusCode)
	}
}

// administered has one entry for each command block in the README's section "People, keys
// and clients": the texts that the output of the block must contain.
var administered = [][]string{
	{"Acme Ltd", "ada@example.com", "password", "http://localhost:8081/join?token="},
	{`"api.lists.view"`, "sk_live_", "grace", "active"},
	{"oc_live_", "ocs_", "https://unwanted.example.com/client.json", "blocked"},
	{"required", "ada@example.com", "waiting", "api_key.rotated", "oauth_client.blocked", "user.second_factors_reset"},
}

// checkAdministration runs the commands in the README's section "People, keys and clients"
// in the folder of a running demo. The demo must serve the dashboard at the address that
// the section names.
func (d *demo) checkAdministration(t *testing.T) {
	t.Helper()
	text := section(t, "People, keys and clients")
	blocks := Blocks(text, "sh")
	if len(blocks) != len(administered) {
		t.Fatalf("the section has %d blocks, %d are promised something", len(blocks), len(administered))
	}
	for i, output := range d.paste(t, programPath(t), blocks) {
		for _, want := range administered[i] {
			if want = OnPorts(want, d.port); !strings.Contains(output, want) {
				t.Errorf("the output lacks %s:\n%s\n%s", want, blocks[i], output)
			}
		}
	}
	const dashboard = "http://localhost:8081/dashboard"
	if !strings.Contains(text, dashboard) {
		t.Errorf("the section does not name %s", dashboard)
	}
	browser := http.Client{Timeout: patience}
	answer, err := browser.Get(OnPorts(dashboard, d.port))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Request.URL.Path != "/login" {
		t.Errorf("%s: %d at %s, want the page to sign in", dashboard, answer.StatusCode, answer.Request.URL)
	}
}

// checkPrintedCommands checks that the demo prints the README's commands for agents and
// its MCP client configuration. The printed texts must have the demo's credentials in place
// of the README's variables.
func (d *demo) checkPrintedCommands(t *testing.T) {
	t.Helper()
	commands := Blocks(page(t), "sh")
	configuration := Blocks(page(t), "json")
	if len(configuration) != 1 {
		t.Fatalf("the README has %d blocks of JSON, want the client's configuration alone", len(configuration))
	}
	credentials := d.credentials(t)
	filledIn := strings.NewReplacer(`"$CLIENT_ID:$CLIENT_SECRET"`, "'"+credentials.ClientID+":"+credentials.ClientSecret+"'")
	for _, text := range append(commands[1:4:4], configuration...) {
		if want := filledIn.Replace(OnPorts(text, d.port)); !strings.Contains(d.printed, want) {
			t.Errorf("the demo does not print this of the README:\n%s\nIt prints:\n%s", want, d.printed)
		}
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	const text = "a\n```sh\none\n```\n```json\n{}\n```\n\n```sh\ntwo\nthree\n```\n"
	got := Blocks(text, "sh")
	if len(got) != 2 || got[0] != "one\n" || got[1] != "two\nthree\n" {
		t.Errorf("got %q", got)
	}
	if moved := OnPorts("http://localhost:8082/mcp", 20000); moved != "http://localhost:20002/mcp" {
		t.Errorf("moved to %s", moved)
	}
}
