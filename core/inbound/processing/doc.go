// Package processing turns accepted messages into delivered ones. It claims tasks of the queue,
// judges and parses each message, stores its bodies and attachments, and gives it to the
// destinations of its routes. The rows of a destination and the end of the task are committed
// together, so a message is delivered once, wherever a process ends.
package processing
