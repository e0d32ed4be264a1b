package layout

import (
	"slices"
	"strings"
)

// mayImport lists, for each top-level folder of the repository, which other top-level
// folders the code in it may import.
var mayImport = map[string][]string{
	"core":        {},
	"guardrails":  {"core"},
	"tools":       {"core", "guardrails"},
	"rest":        {"core", "guardrails"},
	"oauth":       {"core", "guardrails"},
	"storage":     {"core"},
	"cmd":         {"core", "guardrails", "tools", "rest", "oauth", "storage"},
	"conformance": {"core", "guardrails", "tools", "rest", "oauth", "storage", "cmd"},
}

// testsMayImport has the top-level folders that tests in every folder may import. Tests
// need the real database, the guardrails and a simulated sending account.
var testsMayImport = []string{"core", "guardrails", "storage"}

// domainEdges lists which domain (folder of core) may import which other domain, and why:
// the first of each pair may import the second. The domain catalogue needs no entries,
// because it may import every domain.
var domainEdges = map[[2]string]string{
	{"access", "jobs"}:                 "the end of a rotated key's grace is a job",
	{"account", "sending"}:             "the state of the sending account is read from it",
	{"account", "channels"}:            "whether mail can be sent depends on channels, identities and tracking domains",
	{"account", "jobs"}:                "following a request for production access is a job",
	{"activities", "jobs"}:             "a job purges activities after the retention",
	{"partitions", "jobs"}:             "a job makes and removes partitions",
	{"partitions", "retention"}:        "a job removes partitions after the shortest period of their rows",
	{"partitions", "domainauth"}:       "a job removes partitions after the period of the rows of reports",
	{"privacy", "access"}:              "an erasure is in the audit log",
	{"privacy", "inbound"}:             "received messages name the objects that are erased with them",
	{"privacy", "retention"}:           "the register says for how long records are kept",
	{"retention", "access"}:            "a changed period and what was deleted are in the audit log",
	{"retention", "jobs"}:              "old records are deleted by a job",
	{"privacy", "topics"}:              "an opt-out of a topic outlives the person",
	{"privacy", "sending"}:             "the sending account stores addresses, which are erased too",
	{"approvals", "access"}:            "what people decide about sends is in the audit log",
	{"approvals", "handover"}:          "the daily cap and the stop of all mail apply where mail leaves",
	{"approving", "access"}:            "decisions about sends are in the audit log",
	{"approving", "approvals"}:         "policies say which sends wait, and decisions are stored as approvals",
	{"approving", "broadcasts"}:        "an approval is about the send of a broadcast",
	{"approving", "jobs"}:              "a job ends approvals that waited too long",
	{"assets", "objects"}:              "the contents of images are objects",
	{"bundles", "access"}:              "what an import changes is in the audit log",
	{"attributes", "jobs"}:             "stored contacts follow a changed registry in a job",
	{"attributes", "predicate"}:        "numbers have the bounds of predicates, and the audience schema describes the predicate language",
	{"attributes", "sending"}:          "the description of the audience names the account's topics",
	{"topics", "jobs"}:                 "the periodic sync is a job",
	{"topics", "sending"}:              "topics and consent live in the sending account",
	{"contacts", "lists"}:              "a contact is on lists, and writes name the lists to join and leave",
	{"contacts", "topics"}:             "a contact has choices about topics",
	{"contacts", "attributes"}:         "values of contacts are checked against the registry",
	{"contacts", "sending"}:            "consent is stored in the sending account",
	{"bulk", "contacts"}:               "a row is written by the plan of a contact",
	{"bulk", "lists"}:                  "rows name lists",
	{"bulk", "topics"}:                 "rows have choices about topics",
	{"bulk", "attributes"}:             "values of rows are checked against the registry",
	{"bulk", "sending"}:                "consent of rows is pushed to the sending account",
	{"bulk", "workpool"}:               "results of pushes to the account are stored after an outage of the database",
	{"bulk", "jobs"}:                   "bulk writes and pushes to the account are jobs",
	{"contactimport", "bulk"}:          "rows of files are stored by bulk writes",
	{"contactimport", "contactfile"}:   "the rows come from contact files",
	{"contactimport", "contactupload"}: "the job checks and imports uploaded files",
	{"contactimport", "consent"}:       "the consent of imported contacts has a source",
	{"consent", "sending"}:             "consent is stored in the sending account",
	{"contacts", "consent"}:            "writes of contacts change consent by the rules of consent",
	{"bulk", "consent"}:                "rows state consent, which is written to the sending account later",
	{"contactupload", "contactfile"}:   "an upload has a sample of its contact file",
	{"contactimport", "jobs"}:          "uploaded files are checked and imported by a job",
	{"channels", "jobs"}:               "the periodic sync is a job",
	{"channels", "sending"}:            "channels and identities live in the sending account",
	{"messages", "jobs"}:               "a job purges messages after the retention",
	{"messages", "mask"}:               "recipients are masked for callers without the scope",
	{"reports", "messages"}:            "reports are figures of message events",
	{"handover", "jobs"}:               "a job gives up attempts whose outcome is unknown",
	{"handover", "workpool"}:           "answers of the account are stored after an outage of the database",
	{"handover", "sending"}:            "messages are passed to the sending account",
	{"git", "bundles"}:                 "a repository has the files of a bundle",
	{"git", "jobs"}:                    "a job reads repositories",
	{"sendevents", "handover"}:         "events resolve recipients whose outcome is unknown",
	{"sendevents", "messages"}:         "message events prove that a message was sent",
	{"composition", "handlebars"}:      "messages are rendered from templates",
	{"composition", "mailhtml"}:        "a mail without text gets one from its HTML, and a preview text",
	{"composition", "sending"}:         "a rendered mail is a message for the sending account",
	{"workflows", "activities"}:        "activities let contacts enter",
	{"workflows", "composition"}:       "the messages of a send step are made from one content",
	{"workflows", "handover"}:          "messages leave through handover, which has the recipients",
	{"workflows", "messages"}:          "events of messages let contacts enter",
	{"workflows", "segments"}:          "conditions are evaluated with the data and the names that segments read",
	{"workflows", "sending"}:           "content is finished in the form of the account's templates",
	{"broadcasts", "composition"}:      "the messages of a broadcast are made from one content",
	{"broadcasts", "handover"}:         "messages leave through handover, which has the recipients",
	{"dispatch", "broadcasts"}:         "broadcasts are started, driven and ended",
	{"dispatch", "handover"}:           "messages leave through handover, which has the recipients",
	{"dispatch", "workpool"}:           "broadcasts are items of a pool",
	{"dispatch", "jobs"}:               "a job corrects the counts of ended broadcasts",
	{"broadcasts", "mailhtml"}:         "inline content must have a tag",
	{"broadcasts", "sending"}:          "content is finished in the form of the account's templates",
	{"testsends", "composition"}:       "tests are rendered as the mail is",
	{"testsends", "handover"}:          "tests leave through handover",
	{"testsends", "sending"}:           "tests are messages for the sending account",
	{"senders", "access"}:              "the mail with a code names the person",
	{"senders", "jobs"}:                "codes are mailed by a job",
	{"senders", "letters"}:             "the code is sent in a letter of Mailhelm",
	{"site", "throttle"}:               "beacons of an address and of a visitor are limited",
	{"site", "visitorids"}:             "beacons name contacts by visitor ids",
	{"segments", "jobs"}:               "jobs evaluate the members",
	{"segments", "messages"}:           "an event of a message may make a contact a member",
	{"segments", "predicate"}:          "a segment is a predicate",
	{"workflows", "workpool"}:          "workflows and their sends are items of pools",
	{"workflows", "predicate"}:         "conditions in workflows are predicates",
	{"workflows", "cache"}:             "estimates are kept until a caller has confirmed them",
	{"workflows", "jobs"}:              "a job checks whether the names in workflows still exist",
	{"segments", "predicatelint"}:      "authors of predicates are warned of mistakes",
	{"predicatelint", "predicate"}:     "the warnings are about predicates",
	{"segments", "sending"}:            "the sending account keeps a list of suppressed addresses",
	{"suppression", "jobs"}:            "a job evaluates addresses again after a change of the rules",
	{"suppression", "messages"}:        "message events decide whether an address is undeliverable",
	{"suppression", "sending"}:         "the sending account keeps a list of its own",
	{"handlebars", "htmlcontext"}:      "values of templates are escaped by their places in the HTML",
	{"templates", "composition"}:       "templates are rendered as the mail is",
	{"templates", "handlebars"}:        "variables and faults of templates are read from their sources",
	{"templates", "mailhtml"}:          "a template without text gets one from its HTML",
	{"templates", "sending"}:           "templates live in the sending account",
	{"templates", "mailsettings"}:      "templates are deployed with the footer, the address and the assets of the settings",
	{"objects", "cache"}:               "the stores of organizations are cached for five seconds",
	{"templates", "jobs"}:              "the periodic sync is a job",
	{"domainauth", "cache"}:            "names of addresses are remembered for a day, and report addresses for the receiver",
	{"domainauth", "mailauth"}:         "policies are read from DMARC records, and names are compared in the same form",
	{"domainauth", "access"}:           "what people decide about reporters is in the audit log",
	{"domainauth", "inbound"}:          "reports come by mail",
	{"domainauth", "jobs"}:             "a job purges the list of files",
	{"domainauth", "handover"}:         "mails about domains leave through handover",
	{"domainauth", "sending"}:          "mails about domains are messages for the sending account",
	{"domainauth", "objects"}:          "files with reports are objects of received mail",
	{"domainauth", "workpool"}:         "files with reports are items of a pool",
	{"inbound", "mailauth"}:            "SPF, DKIM and DMARC are verdicts of received mail",
	{"inbound", "objects"}:             "received mail is stored as objects",
	{"inbound", "jobs"}:                "a job deletes the objects of messages that were never queued",
	{"inbound", "groupcommit"}:         "messages of concurrent clients are queued and delivered together",
	{"inbound", "workpool"}:            "accepted messages are processed by a pool",
	{"inboxes", "access"}:              "pull links are secrets of the same form as other links",
	{"inboxes", "apart"}:               "polls wait with a small stack",
	{"inboxes", "cache"}:               "addresses of inboxes are cached for the receiver",
	{"inboxes", "inbound"}:             "inboxes are a destination of received mail",
	{"inboxes", "jobs"}:                "a job purges ended inboxes",
	{"webhooks", "access"}:             "changes of endpoints are in the audit log",
	{"webhooks", "cache"}:              "the endpoints of organizations are cached for five seconds",
	{"webhooks", "jobs"}:               "a job purges deliveries after thirty days",
	{"webhooks", "workpool"}:           "deliveries are items of pools",
	{"webhooks", "messages"}:           "endpoints receive message events",
	{"webhooks", "standardhooks"}:      "messages to endpoints are signed and tried again by common rules",
	{"receiving", "access"}:            "what people do with deliveries is in the audit log",
	{"receiving", "channels"}:          "sending identities prove that a domain belongs to an organization",
	{"receiving", "groupcommit"}:       "results of concurrent deliveries are committed together",
	{"receiving", "inbound"}:           "received mail is routed and delivered",
	{"receiving", "jobs"}:              "jobs check records and purge the log",
	{"receiving", "objects"}:           "payloads have links to the parts of messages",
	{"receiving", "sending"}:           "the state of an identity is that of the sending account",
	{"receiving", "standardhooks"}:     "deliveries are signed and tried again by common rules",
	{"receiving", "workpool"}:          "changes and endpoints are items of pools",
	{"signing", "jobs"}:                "retired keys are purged by a job",
	{"members", "access"}:              "members are users, and what they do is in the audit log",
	{"members", "passwords"}:           "an invitation makes an account with a password",
	{"closing", "jobs"}:                "a job erases deleted organizations",
	{"closing", "access"}:              "an account ends with grants and keys, and the end is in the audit log",
	{"closing", "members"}:             "the last owner of an organization cannot be deleted",
	{"people", "members"}:              "a visitor is a member of an organization",
	{"people", "passwords"}:            "passwords are judged and hashed by rules",
	{"people", "signing"}:              "secrets of authenticator apps are sealed with the master key",
	{"bearer", "access"}:               "keys, clients and grants are read to find the principal",
	{"bearer", "cache"}:                "principals are cached for five seconds",
	{"access", "throttle"}:             "registrations are limited by network",
	{"people", "access"}:               "people have passwords, sessions and second factors",
	{"people", "jobs"}:                 "jobs send the mail to people",
	{"people", "throttle"}:             "attempts with codes of second factors are limited",
	{"people", "letters"}:              "notices about an account are mailed to its owner",
	{"attempts", "access"}:             "a device is known by the hash of a secret",
	{"attempts", "jobs"}:               "the warning of an owner is a job",
	{"attempts", "people"}:             "the limits are on signing in, and the job that warns is of people",
	{"attempts", "throttle"}:           "attempts with passwords are limited",
	{"replay", "jobs"}:                 "expired records are swept by a job",

	{"inboxes", "inbound"}: "codes and links are found in the HTML of received mail",

	{"unsubscribe", "consent"}:  "a recipient states consent",
	{"unsubscribe", "contacts"}: "the consent of recipients is that of contacts",
	{"unsubscribe", "sending"}:  "links are headers of mail, and consent is stored in the sending account",
	{"unsubscribe", "topics"}:   "recipients choose topics",

	{"passwordchange", "access"}:    "passwords are those of users, and links are secrets",
	{"passwordchange", "jobs"}:      "reset links are mailed by a job",
	{"passwordchange", "letters"}:   "reset links and notices are mailed",
	{"passwordchange", "passwords"}: "new passwords are judged and hashed by rules",
}

// adapterEdges lists which adapter may import which other domain, and why. An adapter is a
// subfolder of a domain that implements an interface of that domain. The import of its own
// domain needs no entry in adapterEdges.
var adapterEdges = map[[2]string]string{
	{"core/git/github", "bundles"}:           "paths of proposed files have the rules of bundles",
	{"core/git/github", "cache"}:             "ids of deliveries are remembered for a day",
	{"core/git/github", "outbound"}:          "requests have limits, and outbound checks which addresses may be dialed",
	{"core/git/local", "bundles"}:            "paths of proposed files have the rules of bundles",
	{"core/git/local", "outbound"}:           "customers choose the servers, and outbound checks which addresses may be dialed",
	{"core/objects/files", "groupcommit"}:    "objects that are stored at the same time are flushed to disk together",
	{"core/mailauth/verify", "cache"}:        "answers of DNS are remembered for seconds",
	{"core/inbound/ses", "cache"}:            "the ids of accepted messages are remembered for an hour",
	{"core/inbound/ses", "objects"}:          "messages are objects that Amazon SES stored",
	{"core/inbound/smtpd", "throttle"}:       "messages of a network are limited",
	{"core/letters/smtpmail", "sending"}:     "mail through the operator's SMTP server uses the client for customers' servers",
	{"core/sending/simulator", "sqlitefile"}: "the simulated account is a SQLite file",
	{"core/sending/simulator", "sentmail"}:   "the simulated account keeps mail for people who read it",
	{"core/standardhooks/post", "outbound"}:  "customers choose the URLs, and outbound checks which addresses may be dialed",
	{"core/inbound/ses", "outbound"}:         "an organization whose bucket is slow takes a share of the slots",
	{"core/objects/s3", "outbound"}:          "customers choose the endpoints, and outbound checks which addresses may be dialed",
	{"core/sending/smtp", "outbound"}:        "customers choose the servers, and outbound checks which addresses may be dialed",
}

// domainParts lists the subfolders of domains that are no adapters, and what each has. The
// domain may import them, and they follow the rules for the domain itself.
var domainParts = map[string]string{
	"core/assets/header":       "the types and sizes of images",
	"core/bundles/archive":     "zip archives and JSON documents of bundles",
	"core/bundles/definitions": "the definitions that a bundle contains",
	"core/bundles/manifest":    "the files of a bundle",
	"core/bundles/plan":        "what a bundle would change",

	"core/domainauth/arrivals":       "DMARC reports that come by mail",
	"core/domainauth/report/compose": "writing DMARC aggregate reports",

	"core/domainauth/comparison": "the figures before and after a change of a domain",
	"core/domainauth/timeline":   "the events of a domain, each made from all its sightings",
	"core/domainauth/intake":     "reading reports into the database",
	"core/domainauth/figures":    "the figures that the rules about DMARC reports are computed from",
	"core/domainauth/lookup":     "what DNS says about a domain, an address and known senders",
	"core/domainauth/measuring":  "jobs that keep what is known of domains up to date",
	"core/domainauth/notices":    "mails to members about a domain",
	"core/domainauth/readiness":  "whether the DMARC policy of a domain may become stricter",
	"core/domainauth/report":     "reading DMARC aggregate reports",
	"core/domainauth/sources":    "which source a row of a DMARC report belongs to",
	"core/inbound/htmltext":      "plain text and links from the HTML of received mail",
	"core/inbound/parse":         "reading the content of received mail",
	"core/inbound/safehtml":      "the HTML of received mail without active content",
	"core/inboxes/extract":       "one-time codes and links in received mail",
	"core/mailauth/dmarc":        "the rules of DMARC: records, the tree walk and alignment",
	"core/inbound/judging":       "the verdicts of a received message",
	"core/inbound/processing":    "how accepted messages are judged, parsed and delivered",
	"core/inbound/spool":         "how received messages are made durable",
	"core/inbound/payload":       "the JSON form of received messages",
	"core/workflows/diagram":     "drawings of workflows as SVG",
	"core/workflows/engine":      "what a run of a workflow does next",
	"core/workflows/examples":    "workflows for the documentation, the demo and tests",
	"core/workflows/grammar":     "descriptions and examples of the language",
	"core/workflows/language":    "the language in which workflows are written",
	"core/workflows/mailing":     "how messages of workflows are made and passed on",
	"core/workflows/runner":      "what keeps runs of workflows moving",
	"core/workflows/population":  "runs of workflows for the contacts of an organization, in memory",
	"core/workflows/simulation":  "runs of workflows for contacts in memory",
}

// surfaceAdapters lists which folder of rest or oauth may import which adapter
// (implementation of an interface), and why. Usually cmd chooses the adapter. Each adapter
// listed here is the only implementation of its interface, so cmd has no choice to make.
var surfaceAdapters = map[[2]string]string{
	{"rest/ingest", "core/outbound/fetch"}:          "the limits of fetching certificates are stated where they are verified",
	{"oauth/clientdocument", "core/outbound/fetch"}: "the limits of fetching documents are stated where they are read",
}

// commandFamilies has the folders of cmd/mailhelm that contain commands. Each may import
// the folder serve, which assembles the server, but no other folder of this list. The main
// package may import all of them.
var commandFamilies = []string{"admin", "bundle", "connecting", "demo", "dmarcreports", "doctor", "importing", "inbox", "migrate", "ready", "serve", "usage", "workflowfiles"}

// coreModules lists the third-party modules that packages of core may import, and their
// purpose. None of them uses a network protocol, a database or an SDK. The rule does not
// apply to adapters, the subfolders of a domain.
var coreModules = map[string]string{
	"filippo.io/age":                        "the encryption of archives",
	"golang.org/x/sync/semaphore":           "a limit for the memory of messages that are processed",
	"github.com/go-json-experiment/json":    "strict JSON and its canonical form",
	"github.com/google/uuid":                "identifiers",
	"github.com/invopop/jsonschema":         "schemas from Go types",
	"github.com/santhosh-tekuri/jsonschema": "validation by schema",
	"github.com/pquerna/otp":                "codes of authenticator apps",
	"code.dny.dev/ssrf":                     "which addresses are on the public Internet",
	"github.com/andybalholm/cascadia":       "CSS selectors",
	"github.com/tdewolff/parse/v2":          "tokens of CSS",
	"golang.org/x/crypto":                   "password hashes",
	"golang.org/x/net/html":                 "tokens of HTML, its charset, and the nodes with which selectors are matched",
	"golang.org/x/net/idna":                 "internationalized domain names",
	"golang.org/x/net/publicsuffix":         "the domain under which a mail server's owner registered its name",
	"golang.org/x/text/encoding":            "charsets of received mail",
	"golang.org/x/text/transform":           "charsets of received mail",
	"golang.org/x/text/unicode/norm":        "one form of texts that look alike",
}

// coreStandard lists the packages of the standard library that packages of core must not
// import. The rule does not apply to adapters, the subfolders of a domain.
var coreStandard = []string{"net", "net/http", "net/smtp", "net/rpc", "net/textproto", "database/sql", "os/exec", "plugin", "html/template"}

// refusal returns the reason why a file must not import a package, or "" if it may. folder
// is the file's folder in the repository. imported is the complete import path of the
// package. test is true for a test file.
func refusal(folder, imported string, test bool) string {
	target, ours := strings.CutPrefix(imported, Module+"/")
	if !ours {
		return outsideRefusal(folder, imported, test)
	}
	from, to := top(folder), top(target)
	if from != to && !slices.Contains(mayImport[from], to) && (!test || !slices.Contains(testsMayImport, to)) {
		return from + " does not import " + to
	}
	if isAdapter(target) && !isAdapter(folder) && !test && from != "cmd" && from != "conformance" && surfaceAdapters[[2]string{folder, target}] == "" {
		return "an adapter is chosen by cmd alone"
	}
	switch {
	case test:
		return ""
	case from == "core" && to == "core":
		return coreRefusal(folder, target)
	case from == "storage":
		return storageRefusal(folder, target)
	}
	if from == "cmd" && to == "cmd" {
		return commandRefusal(folder, target, test)
	}
	return ""
}

// commandRefusal returns the reason why a folder of cmd/mailhelm must not import the folder
// target, or "" if it may.
func commandRefusal(folder, target string, test bool) string {
	const commands = "cmd/mailhelm"
	from, to := commandFolder(folder), commandFolder(target)
	if folder == commands || test || from == to || to == "serve" || !slices.Contains(commandFamilies, to) {
		return ""
	}
	return "what commands share is in cli, installation, provision or serve"
}

// commandFolder returns the name of a command's folder: "importing" for
// cmd/mailhelm/importing and its subfolders, "" for cmd/mailhelm itself.
func commandFolder(folder string) string {
	return top(strings.TrimPrefix(strings.TrimPrefix(folder, "cmd/mailhelm"), "/"))
}

// outsideRefusal returns the reason why a folder must not import a package from outside
// this repository, or "" if the import is allowed. The rules restrict only packages of
// core.
func outsideRefusal(folder, imported string, test bool) string {
	if top(folder) != "core" || isAdapter(folder) || test {
		return ""
	}
	if slices.Contains(coreStandard, imported) {
		return "core speaks no protocol and knows no database"
	}
	if host, _, _ := strings.Cut(imported, "/"); !strings.Contains(host, ".") {
		return ""
	}
	for module := range coreModules {
		if imported == module || strings.HasPrefix(imported, module+"/") {
			return ""
		}
	}
	return "not one of the modules that core may import"
}

// coreRefusal returns the reason why one folder of core must not import another, or "" if
// it may.
func coreRefusal(folder, target string) string {
	from, to := domain(folder), domain(target)
	switch {
	case target == "core" || from == to:
		return ""
	case folder == "core":
		return "the vocabulary imports no domain"
	case from == "catalogue":
		return ""
	case isAdapter(folder) && adapterEdges[[2]string{folder, to}] != "":
		return ""
	case isAdapter(folder):
		return "an adapter knows only the domain whose port it is for"
	case domainEdges[[2]string{from, to}] == "":
		return from + " does not speak " + to + "'s vocabulary"
	}
	return ""
}

// isAdapter reports whether the folder implements an interface that the folder above it
// declares. Such folders are the subfolders of a domain of core, except domainParts, and those
// of guardrails.
func isAdapter(folder string) bool {
	depth := strings.Count(folder, "/")
	return top(folder) == "core" && depth >= 2 && domainParts[folder] == "" || top(folder) == "guardrails" && depth >= 1
}

// top returns the first element of a path: "core" for core/contacts.
func top(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	return first
}

// domain returns the name of the domain to which a folder of core belongs: "contacts" for
// core/contacts and its subfolders, "" for core itself.
func domain(folder string) string {
	return top(strings.TrimPrefix(strings.TrimPrefix(folder, "core"), "/"))
}
