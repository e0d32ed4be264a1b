package rest

import (
	"slices"
	"strings"
)

// tagDescriptions describes the tags of the OpenAPI document. A tag is a domain; see
// [DomainOf].
var tagDescriptions = map[string]string{ //nolint:gosec // no credentials
	"credentials":         "The scopes of the credential that calls.",
	"account":             "The sending account: its quota, its state and what it may send.",
	"reports":             "Figures of the sent mail: deliveries, bounces, complaints, opens and clicks by period or template.",
	"suppressions":        "Addresses to which the sending account itself refuses to send.",
	"undeliverable":       "Addresses that bounced, complained or were rejected, and the rules that mark them.",
	"channels":            "Channels: the configuration sets of the sending account.",
	"identities":          "Domains and addresses from which the account sends, with the state of their DNS records.",
	"tracking-domains":    "Domains of links and pictures in tracked mail.",
	"messages":            "Sent messages with their status and their events.",
	"recipients":          "The messages of one recipient.",
	"contacts":            "People with one address each: consent, attributes, lists and activities.",
	"activities":          "What contacts did: a name, a time and properties.",
	"activity-properties": "Properties of activities that predicates may test, with their types.",
	"lists":               "Static lists of contacts, and their members.",
	"segments":            "Sets of contacts that match a predicate, and their members.",
	"attributes":          "Definitions of the attributes of contacts.",
	"contact-list":        "The contact list of the sending account, in which consent is stored.",
	"topics":              "Topics of mail, which contacts choose.",
	"templates":           "Email templates: those written here, and those of the sending account.",
	"workflows":           "Journeys that contacts take step by step, and the runs of contacts through them.",
	"broadcasts":          "Messages to the members of a list or segment, and the results of their sends.",
	"bundles":             "Definitions as files, for review and version control.",
	"assets":              "Images that mail shows. They come from bundles and from the connected repository.",
	"tags":                "Tags of templates and broadcasts, which are set on the dashboard.",
	"inbound":             "Domains at which the organization receives mail: their webhooks, their addresses, and the log of received mail.",
	"inboxes":             "Temporary inboxes: addresses that receive mail for a limited time, and the messages there.",
	"inbox":               "Pull links, with which a program without a credential reads one temporary inbox.",
	"verified-senders":    "Addresses that people have proven to own, for inboxes that receive from them only.",
	"domain-auth":         "Who sends in the name of the organization's domains, by the DMARC reports of receivers, and whether a policy may become stricter.",
	serviceTag:            "Documents about the service itself. They need no credential.",
}

// serviceTag is the tag of the paths that need no credential.
const serviceTag = "service"

// DomainOf returns the domain of an operation, such as contacts or activity-properties: the
// words of its name before the verb. It is the operation's tag in the OpenAPI document.
func DomainOf(operation string) string {
	first, rest, _ := strings.Cut(operation, "_")
	second, _, _ := strings.Cut(rest, "_")
	if two := first + "-" + second; tagDescriptions[two] != "" {
		return two
	}
	return first
}

// tags returns the tags of the OpenAPI document, which group its operations, in the order
// of the routes.
func (s *Server) tags() []object {
	var names []string
	for _, m := range s.mounts {
		if name := DomainOf(m.Operation); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	tags := make([]object, 0, len(names)+1)
	for _, name := range append(names, serviceTag) {
		tag := object{{"name", name}}
		if text := tagDescriptions[name]; text != "" {
			tag = tag.with("description", text)
		}
		tags = append(tags, tag)
	}
	return tags
}
