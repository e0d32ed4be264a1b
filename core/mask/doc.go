// Package mask hides the addresses and names of recipients in what callers without the
// scope api.messages.unmask_recipients read: addresses, texts of mail servers and JSON. It
// does not depend on the types of messages or events.
package mask
