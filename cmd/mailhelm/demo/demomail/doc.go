// Package demomail gives the demo received mail: temporary inboxes with messages, a receiving
// domain with a log, and verified senders.
//
// The messages are sent to the demo's own SMTP server, so they are judged, parsed, stored and
// delivered as any others. Two small servers on the loopback take the place of the Internet:
// [Names] has the DNS records of the senders, so that SPF, DKIM and DMARC have real results, and
// [Receiver] gets the signed webhooks and shows them. The demo asks no other name server and sends
// nothing to other machines.
//
// The messages and their senders are invented. All domains are below example.com, example.net
// and example.org, which are reserved for examples (RFC 2606 section 3).
package demomail
