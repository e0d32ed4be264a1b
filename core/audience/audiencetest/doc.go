// Package audiencetest gives tests an audience over a real database and a simulated
// sending account: contacts, attributes, lists and topics of one organization, and
// operations run as the rails run them. It is for tests only.
package audiencetest
