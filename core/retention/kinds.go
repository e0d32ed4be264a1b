package retention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Name identifies a kind of records. It is stored, and part of the command line.
type Name string

// The kinds whose period an organization can set.
const (
	ArchivedContacts Name = "archived_contacts"
	AuditLog         Name = "audit_log"
	MembershipLog    Name = "membership_log"
	Undeliverable    Name = "undeliverable"
	AssistantCalls   Name = "assistant_calls"
	TestSends        Name = "test_sends"
	Recipients       Name = "recipients"
	Timelines        Name = "timelines"
	// Replay is the name in statements of storage/members too.
	Replay     Name = "replay"
	FailedJobs Name = "jobs"
)

// Forever is the period of records that are kept as long as the organization.
const Forever = 0

// year is the number of days that a period of a year has.
const year = 365

// Kind is a kind of records with a period that an organization can set.
type Kind struct {
	Name  Name
	Title string
	// About says what the records are, and from when their age counts.
	About string
	// Consequence says what is lost when they are deleted, and what stays.
	Consequence string
	// Tables are the tables whose rows are deleted.
	Tables []string
	// Default, Min and Max are numbers of days.
	Default, Min, Max int
	// MayBeForever allows the period [Forever].
	MayBeForever bool
	// beyondMessages is set for records that are derived from stored events of messages. They
	// are kept until the events are deleted, because a new event would create them again.
	beyondMessages bool
	// AtOnce is set for records that had the default period before periods could be set. The
	// default applies from the first run of the job, without [Notice].
	AtOnce bool
}

// ServerJobsDays is the number of days for which failed jobs are kept that belong to no
// organization, such as periodic jobs.
const ServerJobsDays = 7

// Kinds returns all kinds, in the order in which the dashboard shows them.
func Kinds() []Kind {
	return []Kind{
		{
			Name: ArchivedContacts, Title: "Archived contacts", Tables: []string{"contacts"},
			About:       "Contacts that were archived, with their attributes, topics and activities. The age counts from the last change of the contact.",
			Consequence: "If the person had opted out, had complained, or mail to the address had bounced permanently, a keyed hash of the address stays and mail to it is refused. Reports do not change.",
			Default:     2 * year, Min: 30, Max: 10 * year, MayBeForever: true,
		},
		{
			Name: AuditLog, Title: "Audit log", Tables: []string{"audit_events"},
			About:       "Who changed what, and when.",
			Consequence: "Older changes cannot be traced any more.",
			Default:     year, Min: 90, Max: 10 * year, MayBeForever: true,
		},
		{
			Name: MembershipLog, Title: "Membership log", Tables: []string{"membership_log"},
			About:       "When contacts entered and left lists and segments.",
			Consequence: "Current members stay. Only the history is deleted.",
			Default:     year, Min: 30, Max: 10 * year, MayBeForever: true,
		},
		{
			Name: Undeliverable, Title: "Undeliverable addresses", Tables: []string{"undeliverable"},
			About:       "Addresses that bounced or complained. The age counts from the last change of the entry. Entries whose messages are still stored are kept.",
			Consequence: "The suppression list of the sending account is not changed and still blocks its addresses.",
			Default:     2 * year, Min: year, Max: 10 * year, MayBeForever: true, beyondMessages: true,
		},
		{
			Name: AssistantCalls, Title: "Calls of assistants", Tables: []string{"tool_usage"},
			About:       "Numbers of calls by day, assistant and person.",
			Consequence: "The page \"Activity\" has no older figures.",
			Default:     year, Min: 30, Max: 2 * year,
		},
		{
			Name: TestSends, Title: "Records of test messages", Tables: []string{"test_sends"},
			About:       "Who sent a test of a broadcast or a template, and when. The messages themselves are kept with all messages.",
			Consequence: "Nothing else changes.",
			Default:     year, Min: 30, Max: 10 * year, MayBeForever: true,
		},
		{
			Name: Recipients, Title: "Recipients of sends", Tables: []string{"handover_recipients"},
			About:       "To whom broadcasts, workflows and test sends passed a message to the sending account, to whom they did not, and why. The age counts from that outcome.",
			Consequence: "The results of a broadcast do not name these recipients any more. Its numbers stay, and so do those of workflows.",
			Default:     2 * year, Min: 90, Max: 10 * year, MayBeForever: true,
		},
		{
			Name: Timelines, Title: "Timelines of workflow runs", Tables: []string{"workflow_events"},
			About:       "What happened in each run of a workflow, step by step, also in runs that have not ended.",
			Consequence: "Runs stay, and how they ended. The numbers of each step of a workflow, and of filtered messages, count the entries that are left.",
			Default:     2 * year, Min: 90, Max: 10 * year, MayBeForever: true,
		},
		{
			Name: Replay, Title: "Results of calls", Tables: []string{"replay_records"},
			About:       "Answers of calls with an idempotency key, for a repetition with the same key. A longer period applies to calls from then on.",
			Consequence: "A repetition of an older call takes effect again.",
			Default:     1, Min: 1, Max: 7, AtOnce: true,
		},
		{
			Name: FailedJobs, Title: "Failed background jobs", Tables: []string{"river_job"},
			About:       "Background jobs that failed at their last attempt, with their errors. The age counts from the last attempt.",
			Consequence: "The jobs do not run again in any case. The log of the server has their errors too.",
			Default:     ServerJobsDays, Min: 1, Max: 30, AtOnce: true,
		},
	}
}

// KindOf returns the kind with a name. It fails with core.CodeValidationFailed for an unknown
// name.
func KindOf(name Name) (Kind, error) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		var names []string
		for _, n := range Names() {
			names = append(names, string(n))
		}
		return Kind{}, core.Invalid("kind", "must be one of "+strings.Join(names, ", "))
	}
	return kinds[i], nil
}

// Names returns the names of all kinds.
func Names() []Name {
	var names []Name
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// Check fails with core.CodeValidationFailed, for a field with the name of the kind, if a period
// is outside of the bounds.
func (k Kind) Check(days int) error {
	if days == Forever && k.MayBeForever || days >= k.Min && days <= k.Max {
		return nil
	}
	return core.Invalid(string(k.Name), "must be "+k.Bounds())
}

// Bounds returns the bounds in words, such as "30 to 730 days".
func (k Kind) Bounds() string {
	text := fmt.Sprintf("%d to %d days", k.Min, k.Max)
	if k.MayBeForever {
		text += ", or 0 for as long as the organization"
	}
	return text
}

// Words returns a period in words.
func Words(days int) string {
	if days == Forever {
		return "as long as the organization"
	}
	return number(days)
}

// number returns a number of days in words.
func number(days int) string {
	if days == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", days)
}

// ShortestFor returns the shortest period in days that an organization can set for the rows of a
// table, or false if it can set none.
func ShortestFor(table string) (int, bool) {
	for _, k := range Kinds() {
		if slices.Contains(k.Tables, table) {
			return k.Min, true
		}
	}
	return 0, false
}

// Kept returns for how long records of a kind are kept, for the documentation.
func Kept(name Name) string {
	k, err := KindOf(name)
	if err != nil {
		panic("retention: unknown kind " + string(name))
	}
	text := fmt.Sprintf("%s; an organization can choose %d to %d days", number(k.Default), k.Min, k.Max)
	if k.MayBeForever {
		text += " or no end"
	}
	return text
}

// FixedKind is a kind of records with a period that cannot be changed.
type FixedKind struct {
	Title string
	// Kept is the period in words.
	Kept   string
	Tables []string
}

// Fixed returns the kinds of records that grow and have a fixed period.
func Fixed() []FixedKind {
	return []FixedKind{
		{"Messages, their events and reports", "365 days, or the retention of the plan if it is longer", []string{"messages", "message_events", "message_recipients", "message_kinds", "report_days", "report_hours", "report_bounce_domains"}},
		{"Activities of contacts", "365 days, or the retention of the plan if it is shorter", []string{"activities"}},
		{"Used confirmations", "48 hours", []string{"spent_confirmations"}},
		{"Events that were sent to webhooks", "30 days", []string{"webhook_deliveries"}},
		{"Received mail", "30 days", []string{"receiving_messages", "receiving_contents", "receiving_deliveries", "receiving_states"}},
		{"Mail with DMARC reports", "90 days", []string{"domainauth_files"}},
		{"Bulk writes", "7 days after their end", []string{"bulk_jobs", "bulk_chunks"}},
		{"Uploaded files of contacts", "24 hours, their previews 30 days", []string{"contact_upload_chunks", "contact_uploads"}},
		{"Background jobs that did not fail", "24 hours", []string{"river_job"}},
		{"Failed background jobs of the server itself", number(ServerJobsDays), []string{"river_job"}},
	}
}
