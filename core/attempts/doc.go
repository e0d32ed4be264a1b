// Package attempts limits guessing at passwords, and requests for links that reset a
// password. Each process counts only the requests that it receives. The package also issues
// the secrets of known devices: browsers on which the person has signed in before. Each
// known device has a limit of its own.
//
// core/people checks passwords and starts sessions, core/passwordchange mails the links, and
// both call [Limits] first. The pages of oauth/login keep the secret of a device in a
// cookie.
package attempts
