package main

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Writes an object of strings as RFC 8785 says. encoding/json escapes more than that: < > & U+2028 U+2029.
func canonical(members map[string]string) string {
	names := make([]string, 0, len(members))
	for name := range members { // ASCII, so that the order of bytes is that of UTF-16.
		names = append(names, name)
	}
	sort.Strings(names)
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, quoted(name)+":"+quoted(members[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func quoted(text string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	out := `"`
	for _, scalar := range text {
		if escape, found := short[scalar]; found {
			out += escape
		} else if scalar < 0x20 {
			out += fmt.Sprintf(`\u%04x`, scalar)
		} else {
			out += string(scalar)
		}
	}
	return out + `"`
}

type credential struct {
	ID       string
	Response struct{ ClientDataJSON, AuthenticatorData, PublicKey, Signature, UserHandle string }
}

// Verifies client data and the authenticator data's first 37 bytes; gives back both and the signCount.
func (c credential) read(kind, challenge string) (client, data []byte, signCount uint32, err error) {
	client, err1 := base64.RawURLEncoding.DecodeString(c.Response.ClientDataJSON)
	data, err2 := base64.RawURLEncoding.DecodeString(c.Response.AuthenticatorData)
	var said struct {
		Type, Challenge, Origin string
		CrossOrigin             bool
	}
	if err1 != nil || err2 != nil || json.Unmarshal(client, &said) != nil || len(data) < 37 {
		return nil, nil, 0, errors.New("client data or authenticator data cannot be read")
	}
	if said.Type != kind || said.Challenge != challenge || said.Origin != origin || said.CrossOrigin {
		return nil, nil, 0, errors.New("client data has another type, challenge or origin")
	}
	if hash := sha256.Sum256([]byte(host)); string(data[:32]) != string(hash[:]) || data[32]&1 == 0 {
		return nil, nil, 0, errors.New("rp.id is another, or nobody was there")
	}
	return client, data, binary.BigEndian.Uint32(data[33:37]), nil
}

func verify(by *authenticator, challenge string, made credential) error {
	client, data, signCount, err := made.read("webauthn.get", challenge)
	if err != nil {
		return err
	}
	signature, err := base64.RawURLEncoding.DecodeString(made.Response.Signature)
	if err != nil || made.ID != by.credential || made.Response.UserHandle != "" && made.Response.UserHandle != by.user {
		return errors.New("another credential or user")
	}
	digest := sha256.Sum256(client)
	digest = sha256.Sum256(append(data, digest[:]...))
	if !ecdsa.VerifyASN1(by.key, digest[:], signature) || signCount <= by.signCount {
		return errors.New("the signature does not hold, or signCount does not rise")
	}
	by.signCount = signCount
	return nil
}
