<?php
// Sets the visitor cookie. Call it after every login, before any output. If it fails, log the
// error and complete the login without the cookie.
function set_visitor(string $email, string $external_id): void
{
    $answer = file_get_contents('https://api.example.com/v1/contacts/identify', false, stream_context_create(['http' => [
        'method' => 'POST',
        'header' => ['Authorization: Bearer ' . getenv('MAILHELM_API_KEY'), 'Content-Type: application/json'],
        'content' => json_encode(['email' => $email, 'external_id' => $external_id]),
        'timeout' => 5,
    ]]));
    if ($answer === false) {
        throw new RuntimeException('contacts/identify failed');
    }
    visitor_cookie(json_decode($answer, true, 8, JSON_THROW_ON_ERROR)['visitor_id'], 34560000);
}

// Removes the visitor cookie. Call it at logout.
function clear_visitor(): void
{
    visitor_cookie('', 0);
}

function visitor_cookie(string $value, int $max_age): void
{
    header("Set-Cookie: so_vid=$value; Max-Age=$max_age; Domain=example.com; Path=/; Secure; SameSite=Lax", false);
}
