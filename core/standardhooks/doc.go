// Package standardhooks has the rules of outgoing webhooks: how a message is signed
// (Standard Webhooks), when a failed delivery is tried again, and which URLs may receive
// messages. It does not know what the messages are about, so every kind of webhook uses it.
//
// The package sends nothing. Its folder post has the HTTP sender.
package standardhooks
