// Package mask hides recipients from callers without the scope
// api.messages.unmask_recipients: their addresses, and their names (the parts of the
// addresses before the @). It masks single addresses, texts of mail servers, and JSON. It
// does not depend on the types of messages or events.
package mask
