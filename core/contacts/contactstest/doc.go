// Package contactstest gives tests contacts over a real database and a simulated
// sending account: with the attributes, lists and topics of one organization, and
// operations run as the rails run them. It is for tests only.
package contactstest
