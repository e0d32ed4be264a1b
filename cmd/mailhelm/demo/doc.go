// Package demo is `mailhelm demo`. It starts a server, fills an empty installation with
// the data of package demodata, and prints addresses, credentials and commands to paste.
//
// Package demodata defines the data. Package serve runs the server.
package demo
