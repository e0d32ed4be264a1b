// Package composition makes the messages of a send: it compiles the content that all
// recipients share, and renders it with the data of each recipient. Broadcasts and test
// sends use it, so that a test shows what recipients get.
//
// A variable of the content has the value of the recipient's attribute of the same name,
// else that of the send's own data, else none. The names unsubscribe_url, preferences_url
// and email are reserved.
//
// It calls no account and no database.
package composition
