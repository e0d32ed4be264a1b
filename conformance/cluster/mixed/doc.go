// Package mixed works with an installation of several processes while its parts are killed, and
// checks that nothing was lost or done twice.
//
// Callers read and write contacts by REST and with tools, write in bulk, record activities, send
// broadcasts, let contacts enter a workflow and deliver mail by SMTP, at random API servers. A call
// that gets 503, 409 or 429 with Retry-After, or no answer, is repeated with the same idempotency key
// until it has a definite answer. Every other answer than success is a failure of the test.
//
// Reads and writes of one attribute of a contact are a history of a register, which porcupine checks:
// they must be as if each call had taken effect at one moment between its first request and its
// definite answer. At the end each activity must be stored once, each message of a broadcast must
// have been accepted once, each run of the workflow must have taken each step once, and each received
// message must be stored once and reach the webhook under one id.
//
// Package main in conformance/cluster starts the installation and kills its parts.
package mixed
