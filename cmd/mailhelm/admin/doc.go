// Package admin has the commands of `mailhelm admin` for organizations, people, sending accounts
// and the audit log. Package credentials below it has those for keys, clients and grants, and
// package endpoints those for webhooks. All of them work directly in a database; a server may
// run on it at the same time. The packages in core make the changes; the commands read flags
// and print results.
package admin
