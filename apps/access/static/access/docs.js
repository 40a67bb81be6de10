SwaggerUIBundle({
  url: "/v1/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  persistAuthorization: false,
  tryItOutEnabled: true,
});
