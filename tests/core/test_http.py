from django.test import Client


def test_a_path_with_a_nul_is_not_found(anyone):
    for path in ("/v1/topics/%00", "/%00", "/docs%00"):
        answer = anyone.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


def test_a_nul_in_a_query_of_the_admin_is_an_error_of_the_client(anyone):
    assert anyone.get("/admin/login/?next=%00").status_code == 400


def test_an_unknown_path_answers_in_the_common_shape_with_a_request_id(anyone):
    answer = anyone.get("/v1/nothing", headers={"X-Request-Id": "abc"})
    assert answer.status_code == 404
    error = {"code": "NOT_FOUND", "message": "There is no such thing.", "details": {}}
    assert answer.json() == {"error": error, "requestId": "abc"}
    assert answer["X-Request-Id"] == "abc"


def test_a_host_that_is_not_ours_answers_in_the_common_shape(db):
    answer = Client(raise_request_exception=False).get("/v1/openapi.json", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "INVALID_FIELD"


def test_what_people_open_answers_with_a_page(client, db):
    assert client.get("/admin/nothing/", follow=True)["Content-Type"].startswith("text/html")


def test_what_accept_says_changes_nothing(anyone):
    for accept in ("application/xml", "text/html", "*/*;q=0", "nonsense"):
        assert anyone.get("/v1/openapi.json", headers={"Accept": accept}).status_code == 200


def test_another_method_answers_405_with_what_is_allowed(anyone):
    for method in ("PUT", "OPTIONS", "TRACE", "FOO"):
        answer = anyone.generic(method, "/v1/openapi.json")
        assert answer.status_code == 405, method
        assert answer["Allow"] == "GET, HEAD"
        assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert "Allow" not in anyone.get("/v1/openapi.json")
