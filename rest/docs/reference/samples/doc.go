// Package samples writes example requests of the API in several languages: for curl, Go,
// TypeScript and Python. The programs use only what comes with the language. They read the
// API key from the environment variable API_KEY and print the answer.
package samples
